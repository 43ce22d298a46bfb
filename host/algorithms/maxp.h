// The definition of local maximum chunking, `maxp`.
#pragma once

#include <cmath>

#include "host/algorithms/reference.h"

namespace cutpoint {

class maxp_reference : public reference_defaults {
 public:
  using parameters = maxp_parameters;
  static constexpr std::string_view name = "maxp";
  static constexpr candidate_kind candidates = candidate_kind::windowed;
  static constexpr size_ratios ratios = {.min_divisor = 0, .max_factor = 8};

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit, 0, "half_window");
    visit(p.half_window, parameter_info{"half_window", value_kind::size, 1, largest_average,
                                        "neighbours on each side that a cut-point must beat",
                                        "round(ln(avg_bytes / 256) / ln(256 / 255))"});
  }
  static void fill(parameters& p) {
    if (!p.half_window) {
      const double h = std::round(std::log(static_cast<double>(p.avg_bytes) / 256) / std::log(256.0 / 255));
      p.half_window = h < 0 ? 0 : static_cast<std::uint64_t>(h);
    }
    if (!p.min_bytes) p.min_bytes = p.half_window;
  }
  static parameter_rules rules_of(const parameters&) { return order_rules(); }
  static auto presets() {
    return std::array{
        preset<parameters>{.name = "maxp", .source = "Bjorner et al., local maximum chunking; AE section 2"}};
  }

  explicit maxp_reference(const parameters& p)
      : half_(*p.half_window), min_(std::max<std::uint64_t>(1, *p.min_bytes)), max_(limit_of(*p.max_bytes)) {}
  std::uint64_t reach() const { return reach_past(max_, lookahead()); }
  std::uint64_t lookahead() const { return half_; }
  std::uint64_t behind() const { return half_ + 1 > min_ ? half_ + 1 - min_ : 0; }

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint64_t end = start + std::min<std::uint64_t>(max_, bytes.size() - start);
    const std::uint64_t last = std::min(end, testable(bytes));
    const std::uint64_t i = first_candidate(bytes, start + min_ - 1, last);
    return (i < last ? i + 1 : end) - start;
  }

  /// A map reads bytes that cutting skips, so it takes 1.6 times as long as cutting on speculation.
  std::optional<candidate_map_needs> candidate_map() const {
    return candidate_map_needs{.levels = 1, .behind = half_, .ahead = half_, .unused = min_ - 1};
  }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    const std::uint64_t last = std::min(range.last, testable(range.bytes));
    for (std::uint64_t i = range.first; (i = first_candidate(range.bytes, i, last)) < last; i += half_ + 1) {
      map.mark(range.position_of(i), 0);
    }
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    const std::uint64_t last = std::min(start + end, testable(bytes));
    if (start + min_ > last) return end;
    const std::uint64_t past = position + (last - start);
    const std::uint64_t i = map.next(position + min_ - 1, past, 0);
    return i < past ? i + 1 - position : end;
  }

 private:
  /// Returns one past the last index with a half window after it.
  std::uint64_t testable(byte_span bytes) const { return bytes.size() > half_ ? bytes.size() - half_ : 0; }

  /// Returns the first candidate in [i, last), or some index that is not less than `last`. `last` is at most
  /// `testable`.
  std::uint64_t first_candidate(byte_span bytes, std::uint64_t i, std::uint64_t last) const {
    while (i < last) {
      // The bytes between i and the next byte that is at least as large are no candidates: b[i] is larger, and within
      // the half window before them.
      const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(i + 1);
      const auto larger = std::find_if(first, first + static_cast<std::ptrdiff_t>(half_),
                                       [value = bytes[i]](std::uint8_t next) { return next >= value; });
      const std::uint64_t next = static_cast<std::uint64_t>(larger - bytes.begin());
      if (next == i + half_ + 1 && is_largest_behind(bytes, i)) return i;
      i = next;
    }
    return i;
  }

  /// Returns whether byte i is at least as large as each byte of the half window before it, or of those that the stream
  /// has.
  bool is_largest_behind(byte_span bytes, std::uint64_t i) const {
    const std::uint64_t first = i > half_ ? i - half_ : 0;
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                       bytes.begin() + static_cast<std::ptrdiff_t>(i),
                       [value = bytes[i]](std::uint8_t before) { return before <= value; });
  }

  std::uint64_t half_;
  std::uint64_t min_;
  std::uint64_t max_;
};

maxp_reference reference_for(const maxp_parameters&);

}  // namespace cutpoint
