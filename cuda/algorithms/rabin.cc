// The specifications of `rabin` and `tttd`.
#include "host/algorithms/rabin.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {
namespace {

template <class Parameters>
std::vector<std::uint64_t> rabin_tables(const Parameters& filled, const masked_test& test) {
  const rabin_hash hash(filled.polynomial, filled.window_bytes);
  std::vector<std::uint64_t> words;
  append_table(words, [&](std::uint8_t byte) { return hash.reduction_of(byte); });
  append_removals(words, hash, test.pattern);
  return words;
}

}  // namespace

rabin_specification make_specification(const rabin_parameters& filled) {
  const masked_test test = test_of(filled);
  return {.table = rabin_tables(filled, test),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {{.zeros = test.pattern, .window = static_cast<std::uint32_t>(filled.window_bytes)}},
                   .tests = {{low_zeros_test(test)}}},
          .chunks = make_limits_cut_finder(filled)};
}

tttd_specification make_specification(const tttd_parameters& filled) {
  const masked_test main = main_test(filled);  // its low bits are the pattern of the backup test
  return {.table = rabin_tables(filled, main),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {{.zeros = main.pattern, .window = static_cast<std::uint32_t>(filled.window_bytes)}},
                   .tests = both_tests(low_zeros_test(main), low_zeros_test(backup_test(filled)))},
          .chunks = make_limits_cut_finder<backup_cut_finder>(filled)};
}

}  // namespace cutpoint::cuda
