// The specification of `mincdc4` and `mincdchash4`.
#include "host/algorithms/mincdc.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

mincdc_specification make_specification(const mincdc_parameters& filled) {
  const mincdc_hash hash(filled);
  const std::uint64_t shortest = std::max(*filled.min_bytes, mincdc_hash::window_bytes);
  return {.sizes = {.min_chunk_bytes = std::min(shortest, *filled.max_bytes), .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.shortest = shortest,
                     .reach = *filled.max_bytes,
                     .hash = {.multiplier = hash.multiplier, .addend = hash.addend}}};
}

}  // namespace cutpoint::cuda
