// The scheme of `gear`.
#include "host/algorithms/gear.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

gear_scheme make_scheme(const gear_parameters& filled) {
  return {.table = table_words(table_of(filled.table)),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {}, .tests = {{{static_cast<std::uint32_t>(top_mask(log2_of(filled.avg_bytes)) >> 32)}}}},
          .chunks = limits_cutter(filled)};
}

}  // namespace cutpoint::cuda
