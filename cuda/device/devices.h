// The CUDA devices of this machine, whether CUDA can be used here and why not, and the links of the devices.
//
// Plain C++, with or without a CUDA compiler. Without one, all functions return status_code::unavailable. They are
// thread-safe and leave the calling thread's current CUDA device as it was.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

namespace cutpoint::cuda {

// Decides whether CUDA can be used on this machine, and says in one sentence why not. Plain C++ that judges from facts which
// the back end collects, so tests need no device.

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

/// Members are 0 if unknown: on another bus or system, or in a container that hides sysfs.
struct pci_link {
  /// The fastest generation that the device supports, for example 5 for PCI Express 5.0. An idle link often runs slower.
  int generation = 0;
  /// Lanes in use.
  int width = 0;

  friend bool operator==(const pci_link&, const pci_link&) = default;
};

/// Reads the link of the device with this sysfs folder, such as /sys/bus/pci/devices/0000:17:00.0. Never fails: members that
/// cannot be read are 0.
[[nodiscard]] pci_link read_pci_link(const std::filesystem::path& device_folder);

/// A device that the driver shows to this process.
struct device_info {
  /// Its number in the driver's order, from 0.
  int index = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  version compute_capability;
  int multiprocessor_count = 0;
  std::uint64_t l2_bytes = 0;
  /// "0000:17:00.0", as under /sys/bus/pci/devices.
  std::string pci_bus_id;
  pci_link link;
  int numa_node = -1;  ///< -1 if unknown
  /// The newest CUDA that the driver supports, and the CUDA that this build is made with.
  version driver;
  version runtime;
  /// Says in one sentence why this build cannot use the device; else empty.
  std::string problem;
};

/// Returns the devices in the driver's order, at least one; those with a `problem` are listed too. It creates no context, so
/// it costs no device memory. Fails with status_code::unavailable and one sentence for a build without CUDA, no driver, a
/// driver older than this build's CUDA, or no device. Throws std::bad_alloc.
[[nodiscard]] result<std::vector<device_info>> devices();

/// Ok if this build can use the device of this number. Errors: as `devices`; invalid_argument, for a number out of range;
/// unavailable, with the device's problem.
[[nodiscard]] status check_device(int device);

/// Medians of some samples. Rates are in bytes a second, of copies of 32 MiB from and to pinned memory.
struct link_rates {
  double in = 0;              ///< to the device, while the other direction is idle
  double out = 0;             ///< from the device, likewise
  double in_duplex = 0;       ///< to the device, while the other direction is as busy
  double out_duplex = 0;      ///< from the device, likewise
  double launch_seconds = 0;  ///< launch of an empty kernel, and the wait for it
};

/// Measures the link of a device. It takes at most 0.3 seconds if the link carries a gigabyte a second, besides the driver's
/// time for the first use of a device by a process, and holds 64 MiB of the device's memory and of the host's meanwhile.
/// Errors: as `make_offload`. Thread-safe, but other work of the device lowers the rates.
[[nodiscard]] result<link_rates> measure_link(int device);

}  // namespace cutpoint::cuda
