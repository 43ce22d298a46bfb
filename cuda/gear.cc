// The scheme of `gear`.
#include "host/algorithms/gear.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

gear_scheme make_scheme(const gear_parameters& filled) {
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.table = table_words(table_of(filled.table)),
          .sizes = rolling_sizes(*filled.min_bytes, filled.avg_bytes, max),
          .tests = {{{top_mask(log2_of(filled.avg_bytes))}}},
          .chunks = {.first = *filled.min_bytes, .reach = max}};
}

}  // namespace cutpoint::cuda
