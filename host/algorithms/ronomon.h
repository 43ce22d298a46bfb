// The definition of the profile `ronomon`.
#pragma once

#include "host/algorithms/fastcdc.h"
#include "host/tables/ronomon_gear31.h"

namespace cutpoint {

inline std::uint64_t strict_mask(const ronomon_parameters& p) {
  return low_mask(std::uint64_t{2} << rounded_log2(p.avg_bytes));
}
inline std::uint64_t loose_mask(const ronomon_parameters& p) {
  return low_mask(std::uint64_t{1} << (rounded_log2(p.avg_bytes) - 1));
}

inline normalized_rule rule_of(const ronomon_parameters& p) {
  return {.strict_mask = strict_mask(p),
          .loose_mask = loose_mask(p),
          .min_bytes = *p.min_bytes,
          .strict_end = p.avg_bytes - std::min(p.avg_bytes, *p.min_bytes + (*p.min_bytes + 1) / 2),
          .max_bytes = *p.max_bytes};
}

/// A gear hash that shifts right: `H = (H >> 1) + T[b]` in 32 bits. It has no finite window, so the algorithm is
/// walking.
class ronomon_reference : public reference_defaults {
 public:
  using parameters = ronomon_parameters;
  static constexpr std::string_view name = "ronomon";
  static constexpr candidate_kind candidates = candidate_kind::walking;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.min_bytes, parameter_info{"min_bytes", value_kind::size, 64, 64 * MiB, "smallest chunk but the last"});
    visit(p.avg_bytes, parameter_info{"avg_bytes", value_kind::size, 256, 256 * MiB, "expected size"});
    visit(p.max_bytes, parameter_info{"max_bytes", value_kind::size, 1 * KiB, 1 * GiB, "largest chunk"});
  }
  static parameter_rules rules_of(const parameters&) { return order_rules(); }
  static auto presets() {
    return std::array{preset<parameters>{.name = "ronomon",
                                         .kind = entry_kind::profile,
                                         .source = "ronomon/deduplication, Python package fastcdc, attic (MIT)"}};
  }

  explicit ronomon_reference(const parameters& p) : rule_(rule_of(p)) {}
  std::uint64_t reach() const { return rule_.max_bytes; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    return restarted_cut<std::uint32_t>(rule_, bytes, start, [](std::uint32_t hash, std::uint8_t byte) {
      return (hash >> 1) + tables::ronomon_gear31[byte];
    });
  }

 private:
  normalized_rule rule_;
};

ronomon_reference reference_for(const ronomon_parameters&);

}  // namespace cutpoint
