// The definition of the profile `repmaxcdc`.
#pragma once

#include "host/algorithms/gear.h"

namespace cutpoint {

class repmaxcdc_reference : public reference_defaults {
 public:
  using parameters = repmaxcdc_parameters;
  static constexpr std::string_view name = "repmaxcdc";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr bool is_prefix_decided = false;
  static constexpr bool is_decided_by_lookahead() { return false; }

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.min_bytes, parameter_info{"min_bytes", value_kind::size, gear_hash::window_bytes, largest_average,
                                      "smallest chunk but for a stream shorter than two"});
    visit(p.horizon_bytes, parameter_info{"horizon", value_kind::size, 0, largest_chunk,
                                          "bytes looked at beyond two minimal chunks", "min_bytes * 8"});
  }
  static void fill(parameters& p) {
    if (!p.horizon_bytes) p.horizon_bytes = std::min(8 * p.min_bytes, largest_chunk);
  }
  static auto presets() {
    return std::array{preset<parameters>{
        .name = "repmaxcdc", .kind = entry_kind::profile, .source = "buildbarn/go-cdc (Apache-2.0); REAPI"}};
  }

  explicit repmaxcdc_reference(const parameters& p)
      : hash_(tables::fastcdc2020_gear64), min_(p.min_bytes), reach_(2 * p.min_bytes + *p.horizon_bytes) {}
  std::uint64_t reach() const { return reach_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t visible = std::min<std::uint64_t>(bytes.size() - start, reach_);
    if (visible < 2 * min_) return visible;
    std::uint64_t chosen = first_largest(b, visible - min_);
    while (chosen - min_ >= min_) chosen = first_largest(b, chosen - min_);
    return chosen;
  }

 private:
  /// Returns the first length in [min, last] with the largest hash of the window before the cut.
  std::uint64_t first_largest(const std::uint8_t* b, std::uint64_t last) const {
    std::uint64_t hash = hash_.over(b + (min_ - gear_hash::window_bytes));
    std::uint64_t largest_hash = hash;
    std::uint64_t chosen = min_;
    for (std::uint64_t i = min_; i < last; ++i) {
      hash = hash_.absorb(hash, b[i]);
      if (hash > largest_hash) [[unlikely]] {
        largest_hash = hash;
        chosen = i + 1;
      }
    }
    return chosen;
  }

  gear_hash hash_;
  std::uint64_t min_;
  std::uint64_t reach_;
};

repmaxcdc_reference reference_for(const repmaxcdc_parameters&);

}  // namespace cutpoint
