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

/// Returns the offset at which the loose mask replaces the strict one.
inline std::uint64_t strict_bytes(const ronomon_parameters& p) {
  return p.avg_bytes - std::min(p.avg_bytes, *p.min_bytes + (*p.min_bytes + 1) / 2);
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

  explicit ronomon_reference(const parameters& p)
      : strict_mask_(strict_mask(p)),
        loose_mask_(loose_mask(p)),
        min_(*p.min_bytes),
        strict_bytes_(strict_bytes(p)),
        max_(*p.max_bytes) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining <= min_) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    const std::uint64_t strict_end = std::min(strict_bytes_, end);
    std::uint32_t hash = 0;
    for (std::uint64_t i = min_; i < end; ++i) {
      hash = (hash >> 1) + tables::ronomon_gear31[b[i]];
      if ((hash & (i < strict_end ? strict_mask_ : loose_mask_)) == 0) return i + 1;
    }
    return end;
  }

 private:
  std::uint64_t strict_mask_;
  std::uint64_t loose_mask_;
  std::uint64_t min_;
  std::uint64_t strict_bytes_;
  std::uint64_t max_;
};

template <>
struct reference_of<ronomon_parameters> {
  using type = ronomon_reference;
};

}  // namespace cutpoint
