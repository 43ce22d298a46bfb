// The definition of rapid asymmetric maximum, `ram`.
#pragma once

#include "host/algorithms/reference.h"

namespace cutpoint {

class ram_reference : public reference_defaults {
 public:
  using parameters = ram_parameters;
  static constexpr std::string_view name = "ram";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr size_ratios ratios = {.min_divisor = 0, .max_factor = 2};
  static constexpr std::array<std::string_view, 1> ignored_parameters = {"min_bytes"};

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_average(p, visit);
    visit_maximum(p, visit);
    visit(p.window_bytes,
          parameter_info{"window", value_kind::size, 1, largest_average,
                         "bytes at the chunk's start whose maximum must be reached", "avg_bytes - 256"});
  }
  static void fill(parameters& p) {
    if (!p.window_bytes) p.window_bytes = p.avg_bytes > 256 ? p.avg_bytes - 256 : 0;
  }
  static parameter_rules rules_of(const parameters&) { return maximum_rules(); }
  static auto presets() {
    return std::array{preset<parameters>{.name = "ram", .source = "RAM (Widodo et al.); SeqCDC section II"}};
  }

  explicit ram_reference(const parameters& p) : window_(*p.window_bytes), max_(limit_of(*p.max_bytes)) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end <= window_) return end;
    const std::uint8_t largest = *std::max_element(b, b + window_);
    const std::uint8_t* const reaching =
        std::find_if(b + window_, b + end, [largest](std::uint8_t byte) { return byte >= largest; });
    return reaching != b + end ? static_cast<std::uint64_t>(reaching - b) + 1 : end;
  }

 private:
  std::uint64_t window_;
  std::uint64_t max_;
};

ram_reference reference_for(const ram_parameters&);

}  // namespace cutpoint
