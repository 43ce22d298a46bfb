// The specification of `fixed`.
#include "cuda/algorithms/all_specifications.h"

namespace cutpoint::cuda {

fixed_specification make_specification(const fixed_parameters& filled) {
  return {.sizes = {.min_chunk_bytes = filled.avg_bytes, .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.reach = filled.avg_bytes}};
}

}  // namespace cutpoint::cuda
