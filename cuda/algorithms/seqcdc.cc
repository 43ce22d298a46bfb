// The specification of `seqcdc-inc` and `seqcdc-dec`.
#include "host/algorithms/seqcdc.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

seqcdc_specification make_specification(const seqcdc_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = min, .typical_chunk_bytes = filled.avg_bytes, .resync_chunks = 20},
          .chunks = {.first = min - *filled.seq_length,
                     .reach = max,
                     .skip_size = *filled.skip_size,
                     .skip_trigger = static_cast<std::uint32_t>(*filled.skip_trigger),
                     .seq_length = static_cast<std::uint32_t>(*filled.seq_length),
                     .flip = filled.order == seqcdc_order::increasing ? 0 : ~std::uint32_t{0}}};
}

}  // namespace cutpoint::cuda
