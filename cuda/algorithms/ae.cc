// The specification of `ae-max` and `ae-min`.
#include "host/algorithms/ae.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

ae_specification make_specification(const ae_parameters& filled) {
  const std::uint64_t window = *filled.window_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  const std::uint64_t shortest = filled.lest != 0 ? filled.lest : window + 1;
  return {.sizes = {.min_chunk_bytes = std::min(shortest, max),
                    .typical_chunk_bytes = std::min(std::max(filled.avg_bytes, window + 1), max),
                    .resync_chunks = 90},
          .chunks = {.window = window,
                     .max = max,
                     .reach = reach_past(max, filled.value_bytes - 1),
                     .lest = filled.lest,
                     .value_bytes = static_cast<std::uint32_t>(filled.value_bytes),
                     .flip = filled.extreme == ae_extreme::maximum ? 0 : ~std::uint32_t{0}}};
}

}  // namespace cutpoint::cuda
