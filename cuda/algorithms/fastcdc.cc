// The specifications of `fastcdc` and `borg2-fastcdc`.
#include "host/algorithms/fastcdc.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {
namespace {

/// Chains of cuts take longer to meet if the two masks differ much.
chunk_estimates restarted_sizes(std::uint64_t min, std::uint64_t avg, std::uint64_t max, std::uint64_t normalization) {
  chunk_estimates sizes = rolling_sizes(min, avg, max);
  if (normalization != 0) sizes.resync_chunks = 4;
  return sizes;
}

template <class Parameters>
level_tests<zeros_test<std::uint64_t>, 2> strict_and_loose(const Parameters& filled) {
  return both_tests<std::uint64_t>({strict_mask(filled)}, {loose_mask(filled)});
}

}  // namespace

fastcdc_specification make_specification(const fastcdc_parameters& filled) {
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.table = table_words(seeded_table(filled)),
          .sizes = restarted_sizes(*filled.min_bytes, filled.avg_bytes, max, filled.normalization),
          .chunks = {.first = *filled.min_bytes,
                     .strict_end = filled.avg_bytes,
                     .reach = max,
                     .ends = ~std::uint64_t{1},
                     .past_match = 0,
                     .tests = strict_and_loose(filled)}};
}

fastcdc_specification make_specification(const borg2_fastcdc_parameters& filled) {
  const std::uint64_t min = std::uint64_t{1} << filled.min_exp;
  const std::uint64_t max = std::uint64_t{1} << filled.max_exp;
  return {.table = table_words(keyed_table(filled)),
          .sizes = restarted_sizes(min, std::uint64_t{1} << filled.mask_bits, max, filled.normalization),
          .chunks = {.first = min,
                     .strict_end = strict_end(filled),
                     .reach = max,
                     .ends = ~std::uint64_t{0},
                     .past_match = 1,
                     .tests = strict_and_loose(filled)}};
}

}  // namespace cutpoint::cuda
