// Measures the rates of one job: on a device, its link and its kernels by the device's own clock; and in memory.
#pragma once

#include <cutpoint/cost_model.h>
#include <cutpoint/speed.h>

#include "pipeline/backends/device_lanes.h"

namespace cutpoint {

struct device_sampling {
  std::uint64_t batch_bytes = 32 * MiB;  ///< a multiple of 8
  std::uint64_t small_bytes = 64 * KiB;  ///< of the batch that measures latency
  int turns = 2;                         ///< of each batch, after one that is not counted
};

/// Measures the link, the latency, and the kernels that cut and fingerprint as the job asks. A device that cannot cut so
/// fingerprints chunks of `mean_chunk_bytes`. If a call fails, or the device can do neither, the result has the problem
/// and no rates. Throws std::bad_alloc.
[[nodiscard]] device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu,
                                            const feed_options& job, double mean_chunk_bytes,
                                            const device_sampling& how);

/// As `device_cutting_work`, on a device of `provider`, which is not used after the call, in batches of `batch_bytes`.
[[nodiscard]] result<device_cutting> cutting_on(const device_provider& provider, int device, const chunker& cuts,
                                                byte_span data, std::uint64_t batch_bytes);

/// Uses a thread for each of `processor_count` processors, and 64 to 256 MiB of memory, more than a cache of
/// `largest_cache_bytes` holds. Errors: unavailable, if the system cannot start threads.
[[nodiscard]] result<memory_rates> measure_memory(std::uint64_t processor_count, std::uint64_t largest_cache_bytes);

/// The speed of a lane that hashes while all others do, relative to its speed alone. Errors: unavailable.
[[nodiscard]] result<double> measure_together(std::uint64_t processor_count);

/// Seconds to look up and add a new chunk, in an index that is larger than the nearest caches.
[[nodiscard]] double measure_index();

}  // namespace cutpoint
