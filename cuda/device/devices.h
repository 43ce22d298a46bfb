// The CUDA back end as the rest of the engine sees it: the devices of this machine.
//
// Plain C++, whether or not the build has a CUDA compiler. Without one, everything here gives status_code::unavailable.
// Thread-safe: every call may run at once with any other; the calling thread's current CUDA device is left as it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/status.h>

#include "cuda/device/availability.h"
#include "cuda/device/pci_link.h"

namespace cutpoint::cuda {

/// One device that the driver shows to this process.
struct device_info {
  /// The number by which it is chosen here, from 0.
  int index = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  version compute_capability;
  int multiprocessor_count = 0;
  std::uint64_t l2_bytes = 0;
  /// "0000:17:00.0", as under /sys/bus/pci/devices.
  std::string pci_bus_id;
  pci_link link;
  int numa_node = -1;  ///< -1 where unknown
  /// The newest CUDA that the driver supports, and the CUDA that this build is made with.
  version driver;
  version runtime;
  /// Empty, or the sentence that says why this build cannot use the device.
  std::string problem;
};

/// The devices in the driver's order, at least one; those with a `problem` are listed too. Creates no context, so it
/// costs no device memory. Fails with status_code::unavailable and one sentence where there are none: a build without
/// CUDA, no driver, a driver older than this build's CUDA, or no device. Throws std::bad_alloc.
[[nodiscard]] result<std::vector<device_info>> devices();

/// Ok where this build can use the device of this number. Errors: as `devices`; invalid_argument, for a number out of
/// range; unavailable, with the device's problem.
[[nodiscard]] status check_device(int device);

}  // namespace cutpoint::cuda
