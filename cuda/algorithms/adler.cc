// The specification of `adler`.
#include "host/algorithms/adler.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {

adler_specification make_specification(const adler_parameters& filled) {
  const adler_hash::sums zeros = hash_of_zeros(adler_hash(filled.window_bytes));
  adler_specification specification{
      .table = {},
      .sizes = rolling_sizes(filled),
      .rule = {.hash = {.zeros = {zeros.s1, zeros.s2}, .window = static_cast<std::uint32_t>(filled.window_bytes)},
               .tests = {{low_bits_test(masked_test::low(filled.avg_bytes, ~std::uint64_t{0}))}}},
      .chunks = make_limits_cut_finder(filled)};
  append_table(specification.table, [](std::uint8_t byte) { return adler_hash::absorb({}, byte).s1; });
  return specification;
}

}  // namespace cutpoint::cuda
