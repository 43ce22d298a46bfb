// The shortest and longest chunks of each algorithm, with one overload of `of` for each rule.
#include "tests/host/support/limits.h"

#include <algorithm>

#include <cutpoint/chunker.h>

namespace cutpoint::tests {

namespace {

std::uint64_t longest_of(std::uint64_t max_bytes) { return max_bytes == 0 ? unlimited : max_bytes; }

/// The rule of most algorithms: a minimum and a maximum.
template <class Parameters>
chunk_limits of(const Parameters& p) {
  return {.shortest = std::max<std::uint64_t>(1, *p.min_bytes), .longest = longest_of(*p.max_bytes)};
}

/// The limits of chunks that only the maximum can make shorter than `length`.
chunk_limits at_least(std::uint64_t length, std::uint64_t max_bytes) {
  return {.shortest = std::min(length, longest_of(max_bytes)), .longest = longest_of(max_bytes)};
}

chunk_limits of(const ae_parameters& p) { return at_least(p.lest != 0 ? p.lest : *p.window_bytes + 1, *p.max_bytes); }
chunk_limits of(const ram_parameters& p) { return at_least(*p.window_bytes + 1, *p.max_bytes); }
chunk_limits of(const fixed_parameters& p) { return {.shortest = p.avg_bytes, .longest = p.avg_bytes}; }

chunk_limits of(const mincdc_parameters& p) { return at_least(std::max<std::uint64_t>(4, *p.min_bytes), *p.max_bytes); }

template <class Parameters>
requires requires(Parameters p) { p.min_exp; }
chunk_limits of(const Parameters& p) {
  return {.shortest = std::uint64_t{1} << p.min_exp, .longest = std::uint64_t{1} << p.max_exp};
}

/// A minimum remains after each cut, but a stream shorter than two minima is one chunk.
chunk_limits of(const repmaxcdc_parameters& p) {
  return {.shortest = p.min_bytes, .longest = p.min_bytes + std::max(*p.horizon_bytes, p.min_bytes - 1)};
}

}  // namespace

chunk_limits limits_of(const algorithm_parameters& parameters) {
  return std::visit([](const auto& p) { return of(p); }, parameters);
}

}  // namespace cutpoint::tests
