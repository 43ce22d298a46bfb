// The scheme of `repmaxcdc`.
#include "host/algorithms/repmaxcdc.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

repmaxcdc_scheme make_scheme(const repmaxcdc_parameters& filled) {
  const std::uint64_t min = filled.min_bytes;
  return {.table = table_words(tables::fastcdc2020_gear64),
          // A chunk that had room for another was looked at again: none but the last is of two minima.
          .sizes = {.least_chunk = min, .usual_chunk = min + min / 3},
          .chunks = {.min = min, .reach = 2 * min + *filled.horizon_bytes}};
}

}  // namespace cutpoint::cuda
