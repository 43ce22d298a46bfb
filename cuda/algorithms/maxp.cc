// The specification of `maxp`.
#include "host/algorithms/maxp.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

maxp_specification make_specification(const maxp_parameters& filled) {
  const std::uint64_t half = *filled.half_window;
  const std::uint64_t min = std::max<std::uint64_t>(1, *filled.min_bytes);
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = min,
                    .typical_chunk_bytes = std::min(std::max(min, filled.avg_bytes), max),
                    .behind = half + 1 > min ? half + 1 - min : 0},
          .chunks = {.half_window = half, .min = min, .max = max, .reach = reach_past(max, half)}};
}

}  // namespace cutpoint::cuda
