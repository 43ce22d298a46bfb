// What the makers of schemes share.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cuda/scheme.h"
#include "host/algorithms/reference.h"

namespace cutpoint::cuda {

/// Sizes of chunks that a rolling hash cuts. `max_bytes`: `unlimited` for none.
inline scheme_sizes rolling_sizes(std::uint64_t min_bytes, std::uint64_t avg_bytes, std::uint64_t max_bytes) {
  return {.least_chunk = min_bytes, .usual_chunk = std::min(min_bytes + avg_bytes, max_bytes)};
}

/// The words of a scheme's table.
template <class Entries>
std::vector<std::uint64_t> table_words(const Entries& entries) {
  return {entries.begin(), entries.end()};
}

}  // namespace cutpoint::cuda
