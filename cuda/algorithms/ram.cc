// The specification of `ram`.
#include "host/algorithms/ram.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

ram_specification make_specification(const ram_parameters& filled) {
  const std::uint64_t window = *filled.window_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = std::min(window + 1, max),
                    .typical_chunk_bytes = std::min(window + 256, max),
                    .resync_chunks = 90},
          .chunks = {.window = window, .reach = max}};
}

}  // namespace cutpoint::cuda
