// The definition of the asymmetric extremum, `ae-max` and `ae-min`.
#pragma once

#include <cmath>
#include <numbers>

#include "host/algorithms/unbeaten.h"

namespace cutpoint {

constexpr std::array<std::string_view, 2> choice_names(ae_extreme) { return {"max", "min"}; }

/// Reads eight bytes as a big-endian number. In this form, compilers make it one load.
inline std::uint64_t big_endian64(const std::uint8_t* b) {
  const auto at = [b](int k) { return std::uint64_t{b[k]} << (56 - 8 * k); };
  return at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7);
}

class ae_reference : public reference_defaults {
 public:
  using parameters = ae_parameters;
  static constexpr std::string_view name = "ae";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr std::array<std::string_view, 1> ignored_parameters = {"min_bytes"};

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_average(p, visit);
    visit_maximum(p, visit);
    visit(p.window_bytes,
          parameter_info{"window", value_kind::size, 1, largest_average, "bytes from the extreme to the cut",
                         "avg_bytes - 256, or round(avg_bytes / (e - 1)) when value_bytes is 8"});
    visit(p.value_bytes, parameter_info{"value_bytes", value_kind::count, 1, 8, "bytes of a value: 1 or 8"});
    visit(p.lest, parameter_info{"lest", value_kind::size, 0, largest_average,
                                 "a chunk that begins with so many equal bytes is cut after them (AE-Opt2); 0 is off"});
    visit(p.extreme,
          parameter_info{.name = "extreme", .kind = value_kind::choice, .meaning = "which extreme ends a chunk"});
  }
  static void fill(parameters& p) {
    if (p.window_bytes) return;
    if (p.value_bytes == 1) {
      p.window_bytes = p.avg_bytes > 256 ? p.avg_bytes - 256 : 0;
    } else {
      p.window_bytes =
          static_cast<std::uint64_t>(std::llround(static_cast<double>(p.avg_bytes) / (std::numbers::e - 1)));
    }
  }
  static parameter_rules rules_of(const parameters&) {
    return joined(
        {rules::at_least("value_bytes", 8, 1), rules::at_least("lest", 2, 0), rules::at_most("lest", "window")},
        maximum_rules());
  }
  static auto presets() {
    constexpr std::string_view source = "AE section 3 (AE-Opt1 gives the same cuts; lest is AE-Opt2)";
    return std::array{
        preset<parameters>{.name = "ae-max", .source = source, .fixed = {"extreme"}},
        preset<parameters>{
            .name = "ae-min", .source = source, .parameters = {.extreme = ae_extreme::minimum}, .fixed = {"extreme"}}};
  }

  explicit ae_reference(const parameters& p)
      : window_(*p.window_bytes),
        max_(limit_of(*p.max_bytes)),
        value_bytes_(p.value_bytes),
        lest_(p.lest),
        extreme_(p.extreme) {}
  std::uint64_t reach() const { return reach_past(max_, lookahead()); }
  std::uint64_t lookahead() const { return value_bytes_ - 1; }
  std::uint64_t behind() const { return 0; }

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const byte_span rest = bytes.subspan(start);
    const std::uint64_t end = std::min<std::uint64_t>(max_, rest.size());
    if (lest_ != 0 && lest_ <= end && begins_with_run(rest)) return lest_;
    if (value_bytes_ == 8) return cut_at(rest, end, [](const std::uint8_t* b) { return big_endian64(b); });
    return cut_at(rest, end, [](const std::uint8_t* b) { return *b; });
  }

  /// For values of one byte, the definition equals a windowed rule: the cut is after c + window, where c is the first
  /// position from the chunk's start on that none of the `window` values after it beats.
  std::optional<candidate_map_needs> candidate_map() const {
    if (value_bytes_ != 1) return std::nullopt;
    return candidate_map_needs{.levels = 1, .behind = 0, .ahead = window_, .is_cheaper_than_speculation = true};
  }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    if (extreme_ == ae_extreme::maximum) {
      unbeaten_marker<std::greater<>>(window_, range, map).mark_all();
    } else {
      unbeaten_marker<std::less<>>(window_, range, map).mark_all();
    }
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const byte_span rest = bytes.subspan(start);
    const std::uint64_t end = std::min<std::uint64_t>(max_, rest.size());
    if (lest_ != 0 && lest_ <= end && begins_with_run(rest)) return lest_;
    if (end <= window_) return end;
    const std::uint64_t last = position + end - window_;
    const std::uint64_t c = map.next(position, last, 0);
    return c < last ? c + window_ + 1 - position : end;
  }

 private:
  bool begins_with_run(byte_span rest) const {
    const byte_span head = rest.first(lest_);
    return std::all_of(head.begin(), head.end(), [first = head[0]](std::uint8_t b) { return b == first; });
  }

  template <class Read>
  std::uint64_t cut_at(byte_span rest, std::uint64_t end, Read value_at) const {
    return extreme_ == ae_extreme::maximum ? cut_by(rest, end, value_at, std::greater<>())
                                           : cut_by(rest, end, value_at, std::less<>());
  }

  /// Positions without a complete value (the last ones of the stream, if a value has 8 bytes) cannot become the
  /// extreme.
  template <class Read, class Beats>
  std::uint64_t cut_by(byte_span rest, std::uint64_t end, Read value_at, Beats beats) const {
    const std::uint64_t value_count = rest.size() >= value_bytes_ ? rest.size() - value_bytes_ + 1 : 0;
    if (value_count == 0) return end;
    const std::uint8_t* const values_end = rest.data() + value_count;
    for (const std::uint8_t* extreme = rest.data();;) {
      const std::uint64_t extreme_at = static_cast<std::uint64_t>(extreme - rest.data());
      const std::uint64_t window_end = end - extreme_at > window_ ? extreme_at + window_ + 1 : end;
      const std::uint8_t* const last = std::min(rest.data() + window_end, values_end);
      extreme = std::find_if(extreme + 1, last, [&, value = value_at(extreme)](const std::uint8_t& next) {
        return beats(value_at(&next), value);
      });
      if (extreme == last) return window_end;
    }
  }

  std::uint64_t window_;
  std::uint64_t max_;
  std::uint64_t value_bytes_;
  std::uint64_t lest_;
  ae_extreme extreme_;
};

template <>
struct reference_of<ae_parameters> {
  using type = ae_reference;
};

}  // namespace cutpoint
