// The definition of fixed-size chunks.
#pragma once

#include "host/algorithms/reference.h"

namespace cutpoint {

class fixed_reference : public reference_defaults {
 public:
  using parameters = fixed_parameters;
  static constexpr std::string_view name = "fixed";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr std::array<std::string_view, 2> ignored_parameters = {"min_bytes", "max_bytes"};

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.avg_bytes, parameter_info{"avg_bytes", value_kind::size, 1, largest_average, "length of a chunk"});
  }
  static auto presets() {
    return std::array{preset<parameters>{.name = "fixed", .source = "baseline (FSC; P-Dedupe figure 2)"}};
  }

  explicit fixed_reference(const parameters& p) : length_(p.avg_bytes) {}
  std::uint64_t reach() const { return length_; }
  std::uint64_t behind() const { return 0; }
  std::optional<std::uint64_t> fixed_chunk_bytes() const { return length_; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    return std::min<std::uint64_t>(length_, bytes.size() - start);
  }

 private:
  std::uint64_t length_;
};

fixed_reference reference_for(const fixed_parameters&);

}  // namespace cutpoint
