// The base of the references of rolling hashes with a simple test: one loop from the minimum to the maximum.
#pragma once

#include <bit>
#include <cmath>

#include "host/algorithms/reference.h"
#include "host/algorithms/rolling.h"

namespace cutpoint {

/// Accepts a hash whose masked bits equal a pattern.
struct masked_test {
  std::uint64_t mask;
  std::uint64_t pattern;

  /// Makes a test that compares the low log2(divisor) bits with those of `pattern`.
  static masked_test low(std::uint64_t divisor, std::uint64_t pattern) {
    return {low_mask(divisor), pattern & low_mask(divisor)};
  }
  bool operator()(std::uint64_t hash) const { return (hash & mask) == pattern; }
  /// Returns the mean distance between accepted positions in random bytes.
  double mean_distance() const { return std::ldexp(1, std::popcount(mask)); }
};

/// The base of the references that cut after the first byte at which `Test` accepts `Hash`. `first` is the shortest
/// length that is tested.
template <class Hash, class Test>
class windowed_reference : public reference_defaults {
 public:
  static constexpr candidate_kind candidates = candidate_kind::windowed;

  windowed_reference(Hash hash, Test test, std::uint64_t first, std::uint64_t max_bytes)
      : hash_(std::move(hash)), test_(test), first_(first), max_(limit_of(max_bytes)) {}

  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    return roll_until(hash_, bytes.data() + start, first_, std::min<std::uint64_t>(max_, bytes.size() - start),
                      [test = test_](const auto& hash, std::uint64_t) { return test(Hash::word(hash)); });
  }

  std::optional<double> expected_chunk_bytes() const {
    const double divisor = test_.mean_distance();
    const auto min = static_cast<double>(first_);
    if (max_ == unlimited) return min + divisor;
    const double span = static_cast<double>(max_) - min;
    if (span <= 0) return static_cast<double>(max_);
    return min - divisor * std::expm1(span * std::log1p(-1 / divisor));
  }

  std::optional<candidate_map_needs> candidate_map() const { return rolled_needs(hash_, first_ - 1); }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_rolled(hash_, std::array{test_}, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end < first_) return end;
    return map.next(position + first_ - 1, position + end - 1, 0) - position + 1;
  }

 private:
  Hash hash_;
  Test test_;
  std::uint64_t first_;
  std::uint64_t max_;
};

}  // namespace cutpoint
