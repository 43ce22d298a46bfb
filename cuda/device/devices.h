// The CUDA devices of this machine.
//
// Plain C++, with or without a CUDA compiler. Without one, all functions return status_code::unavailable. They are
// thread-safe and leave the calling thread's current CUDA device as it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/status.h>

#include "cuda/device/availability.h"
#include "cuda/device/pci_link.h"

namespace cutpoint::cuda {

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

}  // namespace cutpoint::cuda
