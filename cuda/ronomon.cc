// The scheme of `ronomon`.
#include "host/algorithms/ronomon.h"

#include "cuda/make_scheme.h"
#include "cuda/schemes.h"

namespace cutpoint::cuda {

ronomon_scheme make_scheme(const ronomon_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = *filled.max_bytes;
  const std::uint64_t bits = rounded_log2(filled.avg_bytes);
  return {.table = table_words(tables::ronomon_gear31),
          .sizes = {.least_chunk = std::min(min + 1, max), .usual_chunk = filled.avg_bytes},
          .chunks = {.min = min,
                     .strict_bytes = filled.avg_bytes - std::min(filled.avg_bytes, min + (min + 1) / 2),
                     .reach = max,
                     .strict_mask = static_cast<std::uint32_t>(low_mask(std::uint64_t{2} << bits)),
                     .loose_mask = static_cast<std::uint32_t>(low_mask(std::uint64_t{1} << (bits - 1)))}};
}

}  // namespace cutpoint::cuda
