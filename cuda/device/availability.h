// Decides whether CUDA can be used on this machine, and says in one sentence why not. Plain C++ that judges from facts which
// the back end collects, so tests need no device.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// A version of CUDA, of a driver or a toolkit, or a compute capability.
struct version {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const version&, const version&) = default;  // NOLINT(modernize-use-nullptr)
};

/// CUDA's own encoding, 1000·major + 10·minor.
[[nodiscard]] constexpr version decode_cuda_version(int encoded) { return {encoded / 1000, encoded % 1000 / 10}; }

/// "13.0".
[[nodiscard]] std::string to_string(version v);

/// The driver's answers.
struct driver_probe {
  /// The newest CUDA that the driver supports; 0.0 without a driver.
  version driver{};
  /// The toolkit that this binary was built with.
  version runtime{};
  int device_count = 0;
  /// CUDA's message if counting the devices failed for another reason than that there are none; else empty.
  std::string error{};
};

/// The status of a build without a CUDA compiler: status_code::unavailable.
[[nodiscard]] status no_cuda_in_this_build();

/// Ok if a device can be used, else status_code::unavailable: no driver, a driver older than the toolkit's major version,
/// devices that cannot be counted, or no device.
[[nodiscard]] status check_driver(const driver_probe& probe);

/// Says why a device of compute capability `device` cannot run a binary whose oldest code is for `oldest_code`; else empty.
[[nodiscard]] std::string reason_device_is_unsupported(std::string_view device_name, version device,
                                                       version oldest_code);

}  // namespace cutpoint::cuda
