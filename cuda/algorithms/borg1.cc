// The specification of `borg1`.
#include "host/algorithms/borg1.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

borg1_specification make_specification(const borg1_parameters& filled) {
  const buzhash32_table table = seeded_table(filled);
  const auto window = static_cast<std::uint32_t>(filled.window_bytes);
  const std::uint64_t min = std::uint64_t{1} << filled.min_exp;
  const std::uint64_t avg = std::uint64_t{1} << filled.mask_bits;
  const std::uint64_t max = std::uint64_t{1} << filled.max_exp;
  return {.table = table_words(table),
          .sizes = rolling_sizes(min, avg, max),
          .rule = {.hash = {{.zeros = hash_of_zeros(buzhash(table, window)), .window = window}},
                   .tests = {{low_zeros_test(masked_test::low(avg, 0))}}},
          .chunks = {.first = min, .window = window, .reach = max}};
}

}  // namespace cutpoint::cuda
