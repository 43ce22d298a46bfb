// Whether CUDA can be used on this machine, and the one sentence that says why not. Plain C++: judged from facts that
// the back end collects, so that every sentence is tested without a device.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint::cuda {

/// A version of CUDA as drivers and toolkits bear it, or a compute capability.
struct version {
  int major = 0;
  int minor = 0;

  friend auto operator<=>(const version&, const version&) = default;
};

/// CUDA's own encoding, 1000·major + 10·minor.
[[nodiscard]] constexpr version decode_cuda_version(int encoded) { return {encoded / 1000, encoded % 1000 / 10}; }

/// "13.0".
[[nodiscard]] std::string to_string(version v);

/// What was found when the driver was asked.
struct driver_probe {
  /// The newest CUDA that the driver supports; 0.0 where there is no driver.
  version driver{};
  /// The toolkit that this binary was built with.
  version runtime{};
  int device_count = 0;
  /// What CUDA said when the devices could not be counted for any other reason than that there are none; else empty.
  std::string error{};
};

/// For a build without a CUDA compiler: status_code::unavailable.
[[nodiscard]] status no_cuda_in_this_build();

/// Ok where there is a device to use, else status_code::unavailable: no driver, a driver older than the toolkit's major
/// version, devices that cannot be counted, or none.
[[nodiscard]] status check_driver(const driver_probe& probe);

/// Empty, or why a device of compute capability `device` cannot run a binary whose code begins with `oldest_code`.
[[nodiscard]] std::string reason_device_is_unsupported(std::string_view device_name, version device,
                                                       version oldest_code);

}  // namespace cutpoint::cuda
