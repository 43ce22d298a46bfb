// What the makers of specifications share.
#pragma once

#include <algorithm>
#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/kernel/packed_bytes.h"
#include "cuda/scan/rolling_scan.h"
#include "host/algorithms/windowed_reference.h"

namespace cutpoint::cuda {

/// Sizes of chunks that a rolling hash cuts. `max_bytes`: `unlimited` for none.
inline chunk_estimates rolling_sizes(std::uint64_t min_bytes, std::uint64_t avg_bytes, std::uint64_t max_bytes) {
  return {.min_chunk_bytes = min_bytes, .typical_chunk_bytes = std::min(min_bytes + avg_bytes, max_bytes)};
}
template <class Parameters>
chunk_estimates rolling_sizes(const Parameters& p) {
  return rolling_sizes(*p.min_bytes, p.avg_bytes, limit_of(*p.max_bytes));
}

/// The cut_finder of `min_bytes` and `max_bytes`.
template <class CutFinder = first_candidate_cut_finder, class Parameters>
CutFinder make_limits_cut_finder(const Parameters& p) {
  return {.first = *p.min_bytes, .reach = limit_of(*p.max_bytes)};
}

/// A test of the low 32 bits of a hash, of which it looks at no more.
inline pattern_test low_bits_test(const masked_test& test) {
  return {.mask = static_cast<std::uint32_t>(test.mask), .pattern = static_cast<std::uint32_t>(test.pattern)};
}

/// The same where the pattern is zero, or that through which the hash is seen.
inline zeros_test<std::uint32_t> low_zeros_test(const masked_test& test) {
  return {static_cast<std::uint32_t>(test.mask)};
}

/// `worth(byte)` for each byte, appended to a specification's table.
template <class Worth>
void append_table(std::vector<std::uint64_t>& words, Worth worth) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) words.push_back(worth(static_cast<std::uint8_t>(byte)));
}

/// The table of entries that are given.
template <class Entries>
std::vector<std::uint64_t> table_words(const Entries& entries) {
  return {entries.begin(), entries.end()};
}

/// A hash that is linear over GF(2) is seen through the pattern that tests look for, so that zeros are looked for: what
/// the pattern turns into at each step comes out with the byte that leaves, and costs nothing.
template <class Hash>
void append_removals(std::vector<std::uint64_t>& words, const Hash& hash, std::uint64_t pattern) {
  using state = decltype(hash.over(nullptr));
  const auto seen = static_cast<state>(pattern);
  const state step = seen ^ hash.absorb(seen, 0);
  append_table(words, [&](std::uint8_t byte) { return hash.removal_of(byte) ^ step; });
}

/// The hash of a window of zeros, by the definition.
template <class Hash>
auto hash_of_zeros(const Hash& hash) {
  const std::vector<std::uint8_t> zeros(hash.window());
  return hash.over(zeros.data());
}

}  // namespace cutpoint::cuda
