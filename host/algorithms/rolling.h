// The loops that all rolling hashes share, and the base of the references that need nothing else. One loop tests the lengths
// of a chunk one after the other, and one marks the candidates in a range of positions.
#pragma once

#include <bit>
#include <cmath>

#include "host/algorithms/reference.h"

namespace cutpoint {

/// Visits the lengths from `first` to `last` until a visit returns true, each with the hash of the window that ends
/// with the last byte of a chunk of that length. Returns the length of the visit that returned true, or `last`. If
/// `last` is less than `first`, visits no length.
///
/// `Hash` has window(), over(bytes), which returns the hash of window() bytes, and roll(hash, outgoing, incoming).
/// `first` is at least window().
template <class Hash, class Visit>
std::uint64_t roll_until(const Hash& hash, const std::uint8_t* bytes, std::uint64_t first, std::uint64_t last,
                         Visit&& visit) {
  if (last < first) return last;
  const std::uint64_t window = hash.window();
  auto value = hash.over(bytes + (first - window));
  for (std::uint64_t length = first; length < last; ++length) {
    if (visit(value, length)) return length;
    value = hash.roll(value, bytes[length - window], bytes[length]);
  }
  visit(value, last);
  return last;
}

/// Returns the properties of the map that `mark_rolled` makes.
template <class Hash>
candidate_map_needs rolled_needs(const Hash& hash, std::uint64_t unused, std::uint64_t levels = 1) {
  return {.levels = levels, .behind = hash.window() - 1, .ahead = 0, .unused = unused};
}

/// A rolling hash, and the candidates that the tests of `mark_rolled` found in one word of 64 positions.
template <class Hash, class Test, std::size_t levels>
class rolled_lane {
 public:
  /// `bytes[0]` is the next byte. A whole window must lie before it.
  rolled_lane(const Hash& hash, const std::array<Test, levels>& tests, const std::uint8_t* bytes)
      : hash_(hash), tests_(tests), incoming_(bytes), value_(hash.over(bytes - hash.window())) {}

  /// Rolls in the next byte, whose position is `bit` of the word.
  void roll(std::uint64_t bit) {
    value_ = hash_.roll(value_, *(incoming_ - hash_.window()), *incoming_);
    ++incoming_;
    const auto word = hash_.word(value_);
    if (is_accepted(word)) [[unlikely]] {
      for (std::size_t level = 0; level < levels; ++level) {
        if (tests_[level](word)) marks_[level] |= std::uint64_t{1} << bit;
      }
    }
  }

  /// Marks the candidates that were found, and clears them. `position` is that of bit 0.
  void flush(std::uint64_t position, candidate_bits& map) {
    for (std::size_t level = 0; level < levels; ++level) {
      if (marks_[level] != 0) map.mark_all(position, marks_[level], level);
      marks_[level] = 0;
    }
  }

 private:
  /// Returns whether any test accepts the hash.
  bool is_accepted(std::uint64_t word) const {
    return std::apply([word](const auto&... tests) { return (tests(word) || ...); }, tests_);
  }

  const Hash& hash_;
  const std::array<Test, levels> tests_;
  const std::uint8_t* incoming_;
  decltype(std::declval<Hash>().over(nullptr)) value_;
  std::array<std::uint64_t, levels> marks_ = {};
};

/// Marks in level k the positions of a range at which `tests[k]` accepts the hash of the window that ends there. A
/// position with less than a window before it in the stream is not a candidate.
template <class Hash, class Test, std::size_t levels>
void mark_rolled(const Hash& hash, const std::array<Test, levels>& tests, const map_range& range, candidate_bits& map) {
  const std::uint8_t* bytes = range.bytes.data();
  const std::uint64_t window = hash.window();
  std::uint64_t first = std::max(range.first, window - 1);
  if (first >= range.last) return;
  if (first < window) {  // the first whole window: no byte rolls out of it
    const auto word = hash.word(hash.over(bytes));
    for (std::size_t level = 0; level < levels; ++level) {
      if (tests[level](word)) map.mark(range.position_of(first), level);
    }
    ++first;
  }
  const auto mark_some = [&](std::uint64_t index, std::uint64_t last) {
    if (index == last) return;
    rolled_lane only(hash, tests, bytes + index);
    for (std::uint64_t position = range.position_of(index); index < last; ++position) {
      only.roll(position % 64);
      if (++index == last || position % 64 == 63) only.flush(position / 64 * 64, map);
    }
  };
  // Two hashes at once hide each other's latency: 1.1 times (adler) to 2 times (tttd) as fast as one on an EPYC (Zen
  // 3).
  const std::uint64_t low = std::min(range.last, first + (0 - range.position_of(first)) % 64);
  const std::uint64_t half = (range.last - low) / 128 * 64;
  const std::uint64_t high = low + half;
  mark_some(first, low);
  if (half != 0) {
    rolled_lane lower(hash, tests, bytes + low);
    rolled_lane upper(hash, tests, bytes + high);
    for (std::uint64_t done = 0; done < half; done += 64) {
      for (std::uint64_t bit = 0; bit < 64; ++bit) {
        lower.roll(bit);
        upper.roll(bit);
      }
      lower.flush(range.position_of(low) + done, map);
      upper.flush(range.position_of(high) + done, map);
    }
  }
  mark_some(high + half, range.last);
}

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

/// The reference of a rolling hash of which only sizes and window are parameters. `test_of` gives the test for them.
template <class Parameters, class Hash>
class rolling_reference : public windowed_reference<Hash, masked_test> {
 public:
  using parameters = Parameters;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit);
    visit_window(p, visit);
  }
  static parameter_rules rules_of(const parameters&) { return rolling_rules(); }

  explicit rolling_reference(const parameters& p)
      : windowed_reference<Hash, masked_test>(Hash(p.window_bytes), test_of(p), *p.min_bytes, *p.max_bytes) {}
};

}  // namespace cutpoint
