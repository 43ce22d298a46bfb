// The scheme of `fixed`.
#include "cuda/schemes.h"

namespace cutpoint::cuda {

fixed_scheme make_scheme(const fixed_parameters& filled) {
  return {.sizes = {.least_chunk = filled.avg_bytes, .usual_chunk = filled.avg_bytes},
          .chunks = {.reach = filled.avg_bytes}};
}

}  // namespace cutpoint::cuda
