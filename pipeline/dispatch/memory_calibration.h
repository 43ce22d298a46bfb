// Rates of memory, and of lanes that all work at once.
#pragma once

#include <cutpoint/cost_model.h>

namespace cutpoint {

/// With a thread for each of `processor_count` processors, over memory that no cache of `largest_cache_bytes` holds; 64
/// to 256 MiB. Errors: unavailable, when the system gives no threads.
[[nodiscard]] result<memory_rates> measure_memory(std::uint64_t processor_count, std::uint64_t largest_cache_bytes);

/// Of what one lane hashes alone, the share that it hashes while all do. Errors: unavailable.
[[nodiscard]] result<double> measure_together(std::uint64_t processor_count);

/// Seconds to look a new chunk up in an index that outgrows the nearest caches, and to add it.
[[nodiscard]] double measure_index();

}  // namespace cutpoint
