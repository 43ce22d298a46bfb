// Makes the specification of each algorithm from its parameters, which are those of a chunker.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "cuda/algorithms/all_specifications.h"
#include "host/algorithms/all.h"

namespace cutpoint::cuda {

namespace {

/// Estimated sizes of chunks that a rolling hash cuts. `max_bytes` is `unlimited` without a maximum.
chunk_estimates rolling_sizes(std::uint64_t min_bytes, std::uint64_t avg_bytes, std::uint64_t max_bytes) {
  return {.min_chunk_bytes = min_bytes, .typical_chunk_bytes = std::min(min_bytes + avg_bytes, max_bytes)};
}
template <class Parameters>
chunk_estimates rolling_sizes(const Parameters& p) {
  return rolling_sizes(*p.min_bytes, p.avg_bytes, limit_of(*p.max_bytes));
}

/// Makes a cut finder of an algorithm's `min_bytes` and `max_bytes`.
template <class CutFinder = first_candidate_cut_finder, class Parameters>
CutFinder make_limits_cut_finder(const Parameters& p) {
  return {.first = *p.min_bytes, .reach = limit_of(*p.max_bytes)};
}

/// Makes a test of the low 32 bits of a hash. The mask has no higher bits.
pattern_test low_bits_test(const masked_test& test) {
  return {.mask = static_cast<std::uint32_t>(test.mask), .pattern = static_cast<std::uint32_t>(test.pattern)};
}

/// The same for a pattern of zero, or for a hash that is combined with the pattern (see `append_removals`).
zeros_test<std::uint32_t> low_zeros_test(const masked_test& test) { return {static_cast<std::uint32_t>(test.mask)}; }

/// Makes the tests of two levels. The bits that their masks share are nearly all of those that one of them has.
template <class Word>
level_tests<zeros_test<Word>, 2> both_tests(const zeros_test<Word>& first, const zeros_test<Word>& second) {
  return {.level = {first, second}, .any = {first.mask & second.mask}};
}

/// Appends `worth(byte)` of each byte to a specification's table.
template <class Worth>
void append_table(std::vector<std::uint64_t>& words, Worth worth) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) words.push_back(worth(static_cast<std::uint8_t>(byte)));
}

template <class Entries>
std::vector<std::uint64_t> table_words(const Entries& entries) {
  return {entries.begin(), entries.end()};
}

/// Appends the table of bytes that leave the window. The hash is linear over GF(2) and kept combined (by exclusive or) with
/// the pattern of the test, so that the test is for zeros, which is cheaper. The entries include the correction that the
/// pattern needs at each step, so it costs no instruction.
template <class Hash>
void append_removals(std::vector<std::uint64_t>& words, const Hash& hash, std::uint64_t pattern) {
  using state = decltype(hash.over(nullptr));
  const auto seen = static_cast<state>(pattern);
  const state step = seen ^ hash.absorb(seen, 0);
  append_table(words, [&](std::uint8_t byte) { return hash.removal_of(byte) ^ step; });
}

template <class Hash>
auto hash_of_zeros(const Hash& hash) {
  const std::vector<std::uint8_t> zeros(hash.window());
  return hash.over(zeros.data());
}

}  // namespace

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

ae_specification make_specification(const ae_parameters& filled) {
  const std::uint64_t window = *filled.window_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  const std::uint64_t shortest = filled.lest != 0 ? filled.lest : window + 1;
  return {.sizes = {.min_chunk_bytes = std::min(shortest, max),
                    .typical_chunk_bytes = std::min(std::max(filled.avg_bytes, window + 1), max),
                    .resync_chunks = 90},
          .chunks = {.window = window,
                     .max = max,
                     .reach = reach_past(max, filled.value_bytes - 1),
                     .lest = filled.lest,
                     .value_bytes = static_cast<std::uint32_t>(filled.value_bytes),
                     .flip = filled.extreme == ae_extreme::maximum ? 0 : ~std::uint32_t{0}}};
}

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

crc32_specification make_specification(const crc32_parameters& filled) {
  const crc32_hash hash(filled.window_bytes);
  const masked_test test = masked_test::low(filled.avg_bytes, lbfs_pattern);
  crc32_specification specification{.table = {},
                                    .sizes = rolling_sizes(filled),
                                    .rule = {.hash = {{.zeros = static_cast<std::uint32_t>(test.pattern),
                                                       .window = static_cast<std::uint32_t>(filled.window_bytes)}},
                                             .tests = {{low_zeros_test(test)}}},
                                    .chunks = make_limits_cut_finder(filled)};
  append_table(specification.table, [&](std::uint8_t byte) { return hash.absorb(0, byte); });
  append_removals(specification.table, hash, test.pattern);
  return specification;
}

namespace {

/// Chains of cuts take longer to meet if the two masks differ.
fastcdc_specification restarted_specification(const gear64_table& table, const normalized_rule& rule,
                                              std::uint64_t avg_bytes) {
  chunk_estimates sizes = rolling_sizes(rule.min_bytes, avg_bytes, rule.max_bytes);
  if (rule.strict_mask != rule.loose_mask) sizes.resync_chunks = 4;
  return {.table = table_words(table),
          .sizes = sizes,
          .chunks = {.first = rule.min_bytes,
                     .strict_end = rule.strict_end,
                     .reach = rule.max_bytes,
                     .ends = rule.end_mask,
                     .past_match = rule.match_bytes,
                     .tests = both_tests<std::uint64_t>({rule.strict_mask}, {rule.loose_mask})}};
}

}  // namespace

fastcdc_specification make_specification(const fastcdc_parameters& filled) {
  return restarted_specification(seeded_table(filled), rule_of(filled), filled.avg_bytes);
}

fastcdc_specification make_specification(const borg2_fastcdc_parameters& filled) {
  return restarted_specification(keyed_table(filled), rule_of(filled), std::uint64_t{1} << filled.mask_bits);
}

fixed_specification make_specification(const fixed_parameters& filled) {
  return {.sizes = {.min_chunk_bytes = filled.avg_bytes, .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.reach = filled.avg_bytes}};
}

gear_specification make_specification(const gear_parameters& filled) {
  return {.table = table_words(table_of(filled.table)),
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {}, .tests = {{{static_cast<std::uint32_t>(top_mask(log2_of(filled.avg_bytes)) >> 32)}}}},
          .chunks = make_limits_cut_finder(filled)};
}

maxp_specification make_specification(const maxp_parameters& filled) {
  const std::uint64_t half = *filled.half_window;
  const std::uint64_t min = std::max<std::uint64_t>(1, *filled.min_bytes);
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = min,
                    .typical_chunk_bytes = std::min(std::max(min, filled.avg_bytes), max),
                    .behind = half + 1 > min ? half + 1 - min : 0},
          .chunks = {.half_window = half, .min = min, .max = max, .reach = reach_past(max, half)}};
}

mincdc_specification make_specification(const mincdc_parameters& filled) {
  const mincdc_hash hash(filled);
  const std::uint64_t shortest = std::max(*filled.min_bytes, mincdc_hash::window_bytes);
  return {.sizes = {.min_chunk_bytes = std::min(shortest, *filled.max_bytes), .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.shortest = shortest,
                     .reach = *filled.max_bytes,
                     .hash = {.multiplier = hash.multiplier, .addend = hash.addend}}};
}

namespace {

template <class Parameters>
std::vector<std::uint64_t> rabin_tables(const Parameters& filled, const masked_test& test) {
  const rabin_hash hash(filled.polynomial, filled.window_bytes);
  std::vector<std::uint64_t> words;
  append_table(words, [&](std::uint8_t byte) { return hash.reduction_of(byte); });
  append_removals(words, hash, test.pattern);
  return words;
}

/// Appends columns of AES, two in a word.
template <class Words, class Columns>
void append_columns(Words& words, const Columns& columns) {
  for (std::size_t i = 0; i < columns.size(); i += 2) words.push_back(columns[i] | std::uint64_t{columns[i + 1]} << 32);
}

/// The first table of a hash, by which it takes a byte.
template <std::size_t Words>
const auto& absorbing_table(const toeplitz_hash<Words>& hash) {
  return hash.entering;
}
const auto& absorbing_table(const rabin64_hash& hash) { return hash.reduction; }

template <class Specification, phte_hash Hash>
Specification encrypted_specification(const phte_parameters<Hash>& filled) {
  const normalized_rule rule = rule_of(filled);
  chunk_estimates sizes = rolling_sizes(rule.min_bytes + 1, std::uint64_t{1} << filled.mask_bits, rule.max_bytes);
  if (rule.strict_mask != rule.loose_mask) sizes.resync_chunks = 4;
  Specification specification{
      .table = {},
      .sizes = sizes,
      .strict = {rule.strict_mask},
      .loose = {rule.loose_mask},
      .chunks = {.first = rule.min_bytes, .strict_end = rule.strict_end, .reach = rule.max_bytes}};
  const auto secrets = secrets_of(filled);
  const auto append = [&](const auto& digests) {
    for (const auto& digest : digests) {
      if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(digest)>>) {
        specification.table.push_back(digest);
      } else {
        specification.table.insert(specification.table.end(), digest.begin(), digest.end());
      }
    }
  };
  append(absorbing_table(secrets->hash));
  append(secrets->hash.leaving);
  append_columns(specification.table, aes::columns);
  for (const aes128::block& key : secrets->cipher.round_keys) append_columns(specification.table, key);
  return specification;
}

}  // namespace

rabin_aes_specification make_specification(const rabin_aes_parameters& filled) {
  return encrypted_specification<rabin_aes_specification>(filled);
}

toeplitz128_aes_specification make_specification(const toeplitz128_aes_parameters& filled) {
  return encrypted_specification<toeplitz128_aes_specification>(filled);
}

toeplitz_aes_specification make_specification(const toeplitz_aes_parameters& filled) {
  return encrypted_specification<toeplitz_aes_specification>(filled);
}

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

rabin_inck_specification make_specification(const rabin_inck_parameters& filled) {
  return {.table = {},
          .sizes = rolling_sizes(filled),
          .rule = {.hash = {.window = static_cast<std::uint32_t>(filled.window_bytes)},
                   .tests = {{low_bits_test(masked_test::low(filled.avg_bytes, lbfs_pattern))}}},
          .chunks = make_limits_cut_finder(filled)};
}

ram_specification make_specification(const ram_parameters& filled) {
  const std::uint64_t window = *filled.window_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = std::min(window + 1, max),
                    .typical_chunk_bytes = std::min(window + 256, max),
                    .resync_chunks = 90},
          .chunks = {.window = window, .reach = max}};
}

repmaxcdc_specification make_specification(const repmaxcdc_parameters& filled) {
  const std::uint64_t min = filled.min_bytes;
  return {.table = table_words(tables::fastcdc2020_gear64),
          // All chunks but the last are shorter than two minima. The factor 1.34 was measured on random bytes.
          .sizes = {.min_chunk_bytes = min, .typical_chunk_bytes = min + min / 3},
          .chunks = {.min = min, .reach = 2 * min + *filled.horizon_bytes}};
}

ronomon_specification make_specification(const ronomon_parameters& filled) {
  const normalized_rule rule = rule_of(filled);
  return {.table = table_words(tables::ronomon_gear31),
          .sizes = {.min_chunk_bytes = std::min(rule.min_bytes + 1, rule.max_bytes),
                    .typical_chunk_bytes = filled.avg_bytes},
          .chunks = {.min = rule.min_bytes,
                     .strict_bytes = rule.strict_end,
                     .reach = rule.max_bytes,
                     .strict_mask = static_cast<std::uint32_t>(rule.strict_mask),
                     .loose_mask = static_cast<std::uint32_t>(rule.loose_mask)}};
}

seqcdc_specification make_specification(const seqcdc_parameters& filled) {
  const std::uint64_t min = *filled.min_bytes;
  const std::uint64_t max = limit_of(*filled.max_bytes);
  return {.sizes = {.min_chunk_bytes = min, .typical_chunk_bytes = filled.avg_bytes, .resync_chunks = 20},
          .chunks = {.first = min - *filled.seq_length,
                     .reach = max,
                     .skip_size = *filled.skip_size,
                     .skip_trigger = static_cast<std::uint32_t>(*filled.skip_trigger),
                     .seq_length = static_cast<std::uint32_t>(*filled.seq_length),
                     .flip = filled.order == seqcdc_order::increasing ? 0 : ~std::uint32_t{0}}};
}

}  // namespace cutpoint::cuda
