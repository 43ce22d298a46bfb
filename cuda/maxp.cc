// The scheme of `maxp`.
#include "host/algorithms/maxp.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

maxp_scheme make_scheme(const maxp_parameters& filled) {
  const std::uint64_t half = *filled.half_window;
  const std::uint64_t min = std::max<std::uint64_t>(1, *filled.min_bytes);
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.least_chunk = min,
                    .usual_chunk = std::min(std::max(min, filled.avg_bytes), max),
                    .behind = half + 1 > min ? half + 1 - min : 0},
          .chunks = {.half_window = half, .min = min, .max = max, .reach = reach_past(max, half)}};
}

}  // namespace cutpoint::cuda
