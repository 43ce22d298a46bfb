// Rates of one device, by batches that are run on it and timed as a whole.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <cutpoint/cost_model.h>

#include "pipeline/device_lanes.h"

namespace cutpoint {

struct device_sampling {
  std::uint64_t batch_bytes = 32 * MiB;  ///< a multiple of 8
  std::uint64_t small_bytes = 64 * KiB;  ///< of a batch that is next to nothing
  int turns = 3;
  std::vector<std::uint64_t> chunk_lengths = {2 * KiB, 8 * KiB, 64 * KiB, 1 * MiB};
  /// A batch of this part of `batch_bytes` too, with fewer chunks in flight.
  std::uint64_t fewer = 8;
};

/// The link, the latency and the kernels of every name of the catalog and every fingerprint that the device makes. What
/// fails is the problem of what comes back, which then has no rates. Throws std::bad_alloc.
[[nodiscard]] device_costs calibrate_device(const device_provider& from, const gpu_info& of,
                                            const device_sampling& how);

}  // namespace cutpoint
