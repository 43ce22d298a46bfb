// The definition of the profile `borg1`.
#pragma once

#include "host/algorithms/buzhash.h"
#include "host/algorithms/reference.h"
#include "host/tables/borg1_buzhash32.h"

namespace cutpoint {

inline buzhash32_table seeded_table(const borg1_parameters& p) {
  buzhash32_table table = tables::borg1_buzhash32;
  for (std::uint32_t& entry : table) entry ^= static_cast<std::uint32_t>(p.seed);
  return table;
}

class borg1_reference : public reference_defaults {
 public:
  using parameters = borg1_parameters;
  static constexpr std::string_view name = "borg1";
  static constexpr candidate_kind candidates = candidate_kind::windowed;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_exponents(p, visit);
    visit(p.window_bytes, parameter_info{"window", value_kind::size, 1, 1 * MiB, "bytes after the cut that decide it"});
    visit(p.seed, parameter_info{"seed", value_kind::word, 0, 0xffffffff, "xored into the table; 32 bits"});
  }
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::holds_window("max_exp")}, exponent_rules());
  }
  static auto presets() {
    return std::array{preset<parameters>{
        .name = "borg1", .kind = entry_kind::profile, .source = "BorgBackup 1.x buzhash (BSD-3-Clause)"}};
  }

  explicit borg1_reference(const parameters& p)
      : hash_(seeded_table(p), p.window_bytes),
        is_match_(masked_test::low(std::uint64_t{1} << p.mask_bits, 0)),
        min_(std::uint64_t{1} << p.min_exp),
        max_(std::uint64_t{1} << p.max_exp) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t lookahead() const { return hash_.window(); }

  /// The window lies after the cut, so a length of the loop is the end of the window. A match one window before `end`
  /// is not tested.
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint64_t window = hash_.window();
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining < min_ + window + 1) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    const std::uint64_t matched =
        roll_until(hash_, bytes.data() + start, min_ + window, end,
                   [is_match = is_match_](std::uint32_t hash, std::uint64_t) { return is_match(hash); });
    return matched < end ? matched - window : end;
  }

  std::optional<candidate_map_needs> candidate_map() const { return rolled_needs(hash_, min_ + hash_.window() - 1); }
  /// A candidate is the last byte of the window, as in `cut`.
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_rolled(hash_, std::array{is_match_}, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t window = hash_.window();
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining < min_ + window + 1) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    const std::uint64_t last = position + end - 1;
    const std::uint64_t matched = map.next(position + min_ + window - 1, last, 0);
    return matched < last ? matched + 1 - window - position : end;
  }

 private:
  buzhash hash_;
  masked_test is_match_;
  std::uint64_t min_;
  std::uint64_t max_;
};

borg1_reference reference_for(const borg1_parameters&);

}  // namespace cutpoint
