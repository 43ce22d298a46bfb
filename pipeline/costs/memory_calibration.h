// Measures the rates of memory, and of lanes that all work at the same time.
#pragma once

#include <cutpoint/cost_model.h>

namespace cutpoint {

/// Uses a thread for each of `processor_count` processors, and 64 to 256 MiB of memory, more than a cache of
/// `largest_cache_bytes` holds. Errors: unavailable, if the system cannot start threads.
[[nodiscard]] result<memory_rates> measure_memory(std::uint64_t processor_count, std::uint64_t largest_cache_bytes);

/// The speed of a lane that hashes while all others do, relative to its speed alone. Errors: unavailable.
[[nodiscard]] result<double> measure_together(std::uint64_t processor_count);

/// Seconds to look up and add a new chunk, in an index that is larger than the nearest caches.
[[nodiscard]] double measure_index();

}  // namespace cutpoint
