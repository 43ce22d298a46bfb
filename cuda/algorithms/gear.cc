// The specification of `gear`.
#include "host/algorithms/gear.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

gear_specification make_specification(const gear_parameters& filled) {
  return {.table = table_words(table_of(filled.table)),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {}, .tests = {{{static_cast<std::uint32_t>(top_mask(log2_of(filled.avg_bytes)) >> 32)}}}},
          .chunks = make_limits_cut_finder(filled)};
}

}  // namespace cutpoint::cuda
