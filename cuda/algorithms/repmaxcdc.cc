// The specification of `repmaxcdc`.
#include "host/algorithms/repmaxcdc.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

repmaxcdc_specification make_specification(const repmaxcdc_parameters& filled) {
  const std::uint64_t min = filled.min_bytes;
  return {.table = table_words(tables::fastcdc2020_gear64),
          // All chunks but the last are shorter than two minima. The factor 1.34 was measured on random bytes.
          .sizes = {.min_chunk_bytes = min, .typical_chunk_bytes = min + min / 3},
          .chunks = {.min = min, .reach = 2 * min + *filled.horizon_bytes}};
}

}  // namespace cutpoint::cuda
