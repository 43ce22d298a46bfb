// The specification of `ronomon`.
#include "host/algorithms/ronomon.h"

#include "cuda/cut/all_specifications.h"
#include "cuda/cut/make_specification.h"

namespace cutpoint::cuda {

ronomon_specification make_specification(const ronomon_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = *filled.max_bytes;
  const std::uint64_t bits = rounded_log2(filled.avg_bytes);
  return {.table = table_words(tables::ronomon_gear31),
          .sizes = {.min_chunk_bytes = std::min(min + 1, max), .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.min = min,
                     .strict_bytes = filled.avg_bytes - std::min(filled.avg_bytes, min + (min + 1) / 2),
                     .reach = max,
                     .strict_mask = static_cast<std::uint32_t>(low_mask(std::uint64_t{2} << bits)),
                     .loose_mask = static_cast<std::uint32_t>(low_mask(std::uint64_t{1} << (bits - 1)))}};
}

}  // namespace cutpoint::cuda
