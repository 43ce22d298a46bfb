// The scheme of `seqcdc-inc` and `seqcdc-dec`.
#include "host/algorithms/seqcdc.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

seqcdc_scheme make_scheme(const seqcdc_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.least_chunk = min, .usual_chunk = filled.avg_bytes, .meeting_chunks = 20},
          .chunks = {.first = min - *filled.seq_length,
                     .reach = max,
                     .skip_size = *filled.skip_size,
                     .skip_trigger = static_cast<std::uint32_t>(*filled.skip_trigger),
                     .seq_length = static_cast<std::uint32_t>(*filled.seq_length),
                     .flip = filled.order == seqcdc_order::increasing ? 0 : ~std::uint32_t{0}}};
}

}  // namespace cutpoint::cuda
