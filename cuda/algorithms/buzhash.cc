// The specification of `buzhash`.
#include "host/algorithms/buzhash.h"

#include "cuda/algorithms/all_specifications.h"
#include "cuda/algorithms/make_specification.h"

namespace cutpoint::cuda {
namespace {

/// Returns x with x * odd = 1 modulo 2^32.
std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;                                            // correct in 3 bits
  for (int bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;  // Newton's method doubles the correct bits
  return inverse;
}

/// Returns a test for a residue r of a divisor 2^k * odd. It computes (word - r) / odd modulo 2^32, rotated right by k.
/// This is a quotient if the divisor divides word - r; otherwise, and if the word is less than r, it is larger than any
/// quotient.
residue_test by_divisor(const buzhash_rule& rule) {
  const int halvings = std::countr_zero(rule.divisor);
  const std::uint32_t inverse = inverse_of(rule.divisor >> halvings);
  return {.factor = inverse,
          .offset = std::uint32_t{0} - rule.lowest * inverse,
          .turns = static_cast<std::uint32_t>((32 - halvings) % 32),
          .highest = (~std::uint32_t{0} - rule.lowest) / rule.divisor};
}

/// Returns a test that moves the low bits of (word - lowest) to the top of a word.
residue_test by_mask(const buzhash_rule& rule) {
  if (rule.mask == 0) return {.highest = ~std::uint32_t{0}};
  const std::uint32_t factor = std::uint32_t{1} << std::countl_zero(rule.mask);
  return {.factor = factor,
          .offset = std::uint32_t{0} - rule.lowest * factor,
          .turns = 0,
          .highest = (rule.highest - rule.lowest) * factor};
}

residue_test residue_test_of(const buzhash_rule& rule) { return rule.divisor != 0 ? by_divisor(rule) : by_mask(rule); }

}  // namespace

buzhash_specification make_specification(const buzhash_parameters& filled) {
  const buzhash32_table& table = table_of(filled.table);
  const auto window = static_cast<std::uint32_t>(filled.window_bytes);
  return {.table = table_words(table),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {{.zeros = hash_of_zeros(buzhash(table, window)), .window = window}},
                   .tests = {{residue_test_of(rule_of(filled))}}},
          .chunks = {.first = shortest_tested(filled), .reach = limit_of(*filled.max_bytes)}};
}

}  // namespace cutpoint::cuda
