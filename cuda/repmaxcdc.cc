// The scheme of `repmaxcdc`.
#include "host/algorithms/repmaxcdc.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

repmaxcdc_scheme make_scheme(const repmaxcdc_parameters& filled) {
  const std::uint64_t min = filled.min_bytes;
  return {.table = table_words(tables::fastcdc2020_gear64),
          // All but the last are shorter than two minima; 1.34 was measured on random bytes.
          .sizes = {.least_chunk = min, .usual_chunk = min + min / 3},
          .chunks = {.min = min, .reach = 2 * min + *filled.horizon_bytes}};
}

}  // namespace cutpoint::cuda
