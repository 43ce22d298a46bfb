// The CUDA back end as the rest of the engine sees it: the devices of this machine, and work that runs on one of them.
//
// Plain C++, whether or not the build has a CUDA compiler. Without one, everything here gives status_code::unavailable.
// Thread-safe: every call may run at once with any other; the calling thread's current CUDA device is left as it was.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

#include "cuda/availability.h"
#include "cuda/pci_link.h"

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

/// A scan for candidates by a 64-bit gear hash (spec: `gear`). Views only; the caller keeps the memory.
struct gear_scan {
  /// One whole stream in host memory, of any length and alignment.
  byte_span bytes;
  std::span<const std::uint64_t, 256> table;
  /// Bits of the hash that are zero at a candidate: the top log2(D) ones for `gear`.
  std::uint64_t hash_mask = 0;
};

/// The positions i >= 63 of the stream after which it may be cut, ascending, found on a device. Copies in, scans and
/// copies out, and returns when that is done; allocates device memory for the stream, an eighth of it, and 8 bytes for
/// each candidate. Fails with unavailable (no such back end, or no code for the device), invalid_argument (no such
/// device), memory_limit (out of device memory) or backend_failure (any other call). Throws std::bad_alloc.
[[nodiscard]] result<std::vector<std::uint64_t>> find_candidates(const gear_scan& scan, int device);

}  // namespace cutpoint::cuda
