// The specification of `ronomon`.
#include "host/algorithms/ronomon.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

ronomon_specification make_specification(const ronomon_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = *filled.max_bytes;
  return {.table = table_words(tables::ronomon_gear31),
          .sizes = {.min_chunk_bytes = std::min(min + 1, max), .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.min = min,
                     .strict_bytes = strict_bytes(filled),
                     .reach = max,
                     .strict_mask = static_cast<std::uint32_t>(strict_mask(filled)),
                     .loose_mask = static_cast<std::uint32_t>(loose_mask(filled))}};
}

}  // namespace cutpoint::cuda
