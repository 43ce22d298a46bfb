// The definition of the asymmetric extremum, `ae-max` and `ae-min`.
#pragma once

#include <cmath>
#include <numbers>

#include "host/algorithms/reference.h"

namespace cutpoint {

// Finds the bytes that no byte within a window after them beats. They are the candidates of AE, whatever a chunk's
// start is.

/// Marks the positions of a range whose byte is not beaten by any of the `window` bytes after it, or by those that the
/// stream has. `Beats` is std::greater or std::less.
///
/// The range is processed in blocks of half a window. Each block is processed from its last word of 64 positions to its
/// first, with the best byte so far. All positions of a block see the bytes up to the end of the first one's window. Of
/// the bytes after that, each position sees a different number. For these, one index is enough: the first byte that
/// beats the best one so far. It can only increase when a better byte is found.
///
///     first    last          first + window    last + window
///     |  block  |  seen by all  |  seen by some  |
///          c <------- window ------->      ^ beater: c does not see it
///
/// Every byte is read at most a few times, nearly always in loops that compilers vectorise. On an EPYC (Zen 3) this
/// runs at 4 GiB/s for random bytes and a window of 8K, at 2.5 for zeros, and at 0.8 for a ramp that falls by one every
/// 40 bytes.
template <class Beats>
class unbeaten_marker {
 public:
  unbeaten_marker(std::uint64_t window, const map_range& range, candidate_bits& map)
      : window_(window), bytes_(range.bytes.data()), range_(range), map_(map) {}

  void mark_all() {
    for (std::uint64_t first = range_.first, last = 0; first < range_.last; first = last) {
      last = std::min(range_.last, first + (window_ + 1) / 2);
      mark_block(first, last);
    }
  }

 private:
  static constexpr Beats beats = {};
  static constexpr std::uint8_t unbeatable = beats(1, 0) ? 255 : 0;

  void mark_block(std::uint64_t first, std::uint64_t last) {
    end_ = std::min<std::uint64_t>(range_.bytes.size(), last + window_);
    beater_ = std::min(end_, first + window_ + 1);
    best_ = best_of(last, beater_);
    find_beater();
    while (last > first) {
      const std::uint64_t begin = last - std::min(last - first, (range_.position_of(last) - 1) % 64 + 1);
      const std::uint8_t best = best_of(begin, last);
      if (best == best_ && last - begin == 64) {
        mark(begin, equal_to_best(begin) & not_seeing_beater(begin));
      } else if (!beats(best_, best)) {
        mark(begin, unbeaten(begin, last));
      }
      last = begin;
    }
  }

  /// Returns a word in which bit k is set if index `first` + k is unbeaten. The indices lie in one word of the map.
  std::uint64_t unbeaten(std::uint64_t first, std::uint64_t last) {
    std::uint64_t marks = 0;
    for (std::uint64_t c = last; c-- > first;) {
      if (beats(bytes_[c], best_)) {
        best_ = bytes_[c];
        find_beater();
      }
      marks = marks << 1 | (bytes_[c] == best_ ? not_seeing_beater(c) & 1 : 0);
    }
    return marks;
  }

  /// Returns 64 bits. Bit k is set if index `first` + k has the best byte.
  std::uint64_t equal_to_best(std::uint64_t first) const {
    constexpr std::uint64_t each = 0x0101010101010101;  // 1 in each of eight bytes
    std::uint64_t marks = 0;
    for (std::uint64_t i = 0; i < 64; i += 8) {
      const std::uint64_t difference = little_endian64(bytes_ + first + i) ^ (each * best_);
      const std::uint64_t is_zero = ~(((difference & 0x7f * each) + 0x7f * each) | difference) >> 7 & each;
      marks |= (is_zero * 0x0102040810204080 >> 56) << i;  // gathers the lowest bits of the eight bytes
    }
    return marks;
  }

  /// In this form, compilers make it one load.
  static std::uint64_t little_endian64(const std::uint8_t* b) {
    const auto at = [b](int k) { return std::uint64_t{b[k]} << (8 * k); };
    return at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7);
  }

  /// Returns 64 bits. Bit k is set if index `first` + k is more than a window before `beater_`.
  std::uint64_t not_seeing_beater(std::uint64_t first) const {
    if (beater_ == end_) return ~std::uint64_t{0};
    const std::uint64_t limit = beater_ - window_;
    if (limit <= first) return 0;
    return limit - first >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (limit - first)) - 1;
  }

  void mark(std::uint64_t first, std::uint64_t marks) {
    const std::uint64_t position = range_.position_of(first);
    if (marks != 0) map_.mark_all(position / 64 * 64, marks << (position % 64), 0);
  }

  /// Advances `beater_` to the first byte that beats the best one, or to the end.
  void find_beater() {
    if (best_ == unbeatable) beater_ = end_;
    while (beater_ + 64 <= end_ && !beats(best_of(beater_, beater_ + 64), best_)) beater_ += 64;
    while (beater_ < end_ && !beats(bytes_[beater_], best_)) ++beater_;
  }

  /// Returns the best byte of [first, last), or for an empty range one that beats no byte.
  std::uint8_t best_of(std::uint64_t first, std::uint64_t last) const {
    const auto best = [](const std::uint8_t* bytes, std::uint64_t count) {
      std::uint8_t so_far = 255 - unbeatable;
      for (std::uint64_t i = 0; i < count; ++i) so_far = beats(bytes[i], so_far) ? bytes[i] : so_far;
      return so_far;
    };
    // With a constant length, compilers make the loop a few vector instructions.
    return last - first == 64 ? best(bytes_ + first, 64) : best(bytes_ + first, last - first);
  }

  std::uint64_t window_;
  const std::uint8_t* bytes_;
  const map_range& range_;
  candidate_bits& map_;
  std::uint8_t best_ = 0;     ///< the best byte that every remaining position sees
  std::uint64_t beater_ = 0;  ///< the first byte that beats it and that only some positions see
  std::uint64_t end_ = 0;     ///< end of the bytes that some positions see
};

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

ae_reference reference_for(const ae_parameters&);

}  // namespace cutpoint
