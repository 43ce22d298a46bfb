// Functions that the makers of specifications share.
#pragma once

#include <algorithm>
#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/kernel/packed_bytes.h"
#include "cuda/scan/rolling_scan.h"
#include "host/algorithms/windowed_reference.h"

namespace cutpoint::cuda {

/// Estimated sizes of chunks that a rolling hash cuts. `max_bytes` is `unlimited` without a maximum.
inline chunk_estimates rolling_sizes(std::uint64_t min_bytes, std::uint64_t avg_bytes, std::uint64_t max_bytes) {
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
inline pattern_test low_bits_test(const masked_test& test) {
  return {.mask = static_cast<std::uint32_t>(test.mask), .pattern = static_cast<std::uint32_t>(test.pattern)};
}

/// The same for a pattern of zero, or for a hash that is combined with the pattern (see `append_removals`).
inline zeros_test<std::uint32_t> low_zeros_test(const masked_test& test) {
  return {static_cast<std::uint32_t>(test.mask)};
}

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

/// Returns a table of these entries.
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

/// The hash of a window of zeros.
template <class Hash>
auto hash_of_zeros(const Hash& hash) {
  const std::vector<std::uint8_t> zeros(hash.window());
  return hash.over(zeros.data());
}

}  // namespace cutpoint::cuda
