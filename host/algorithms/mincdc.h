// The definition of MinCDC, `mincdc4` and `mincdchash4`.
#pragma once

#include <bit>
#include <cstring>

#include "host/algorithms/reference.h"

namespace cutpoint {

/// The hash of the 4 bytes that end a chunk.
struct mincdc_hash {
  static constexpr std::uint64_t window_bytes = 4;

  explicit mincdc_hash(const mincdc_parameters& p)
      : multiplier(static_cast<std::uint32_t>(p.multiplier)), addend(static_cast<std::uint32_t>(p.addend)) {}

  /// Returns the hash of the 4 bytes before `end`. In a loop over positions, GCC does not make one load of four bytes
  /// that are put together: it keeps them from one position to the next.
  std::uint32_t before(const std::uint8_t* end) const {
    std::uint32_t value = 0;
    std::memcpy(&value, end - window_bytes, window_bytes);
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
    return value * multiplier + addend;
  }

  std::uint32_t multiplier;
  std::uint32_t addend;
};

class mincdc_reference : public reference_defaults {
 public:
  using parameters = mincdc_parameters;
  static constexpr std::string_view name = "mincdc";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr size_ratios ratios = {};
  static constexpr bool is_prefix_decided = false;
  static constexpr bool is_decided_by_lookahead() { return false; }

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.min_bytes, parameter_info{"min_bytes", value_kind::size, 0, largest_average, "smallest chunk but the last",
                                      "avg_bytes / 2, or 2 * avg_bytes - max_bytes"});
    visit_average(p, visit, "mean chunk size");
    visit(p.max_bytes, parameter_info{"max_bytes", value_kind::size, 1, 2 * largest_average, "largest chunk",
                                      "avg_bytes * 3 / 2, or 2 * avg_bytes - min_bytes"});
    visit(p.multiplier, parameter_info{"multiplier", value_kind::word, 1, 0xffffffff,
                                       "factor of the 32-bit number whose smallest value ends a chunk"});
    visit(p.addend, parameter_info{"addend", value_kind::word, 0, 0xffffffff, "number added to the product"});
  }
  static void fill(parameters& p) {
    const std::uint64_t sum = 2 * p.avg_bytes;
    if (!p.min_bytes && !p.max_bytes) {
      p.min_bytes = p.avg_bytes / 2;
      p.max_bytes = 3 * p.avg_bytes / 2;
    }
    if (!p.min_bytes) p.min_bytes = sum - std::min(sum, *p.max_bytes);
    if (!p.max_bytes) p.max_bytes = sum - std::min(sum, *p.min_bytes);
  }
  static parameter_rules rules_of(const parameters&) {
    return {rules::at_most("min_bytes", "avg_bytes"), rules::at_most("avg_bytes", "max_bytes"),
            rules::mean_of_bounds("avg_bytes"), rules::odd("multiplier")};
  }
  static auto presets() {
    constexpr std::string_view source = "MinCDC (crate mincdc 0.1, Orson Peters)";
    return std::array{preset<parameters>{.name = "mincdc4",
                                         .source = source,
                                         .parameters = {.multiplier = 1, .addend = 0},
                                         .fixed = {"multiplier", "addend"}},
                      preset<parameters>{.name = "mincdchash4", .source = source}};
  }

  explicit mincdc_reference(const parameters& p) : hash_(p), min_(*p.min_bytes), max_(*p.max_bytes) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    std::uint64_t chosen = end;
    std::uint64_t smallest = std::uint64_t{1} << 32;
    for (std::uint64_t length = std::max(min_, mincdc_hash::window_bytes); length <= end; ++length) {
      const std::uint32_t hash = hash_.before(b + length);
      if (hash < smallest) [[unlikely]] {
        smallest = hash;
        chosen = length;
      }
    }
    return chosen;
  }

 private:
  mincdc_hash hash_;
  std::uint64_t min_;
  std::uint64_t max_;
};

mincdc_reference reference_for(const mincdc_parameters&);

}  // namespace cutpoint
