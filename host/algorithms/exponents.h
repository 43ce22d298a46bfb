// Sizes as powers of two, as in Borg's chunkers.
#pragma once

#include "host/algorithms/reference.h"

namespace cutpoint {

inline constexpr std::uint64_t largest_exponent = 30;

template <class Self, class Visit>
void visit_exponents(Self& p, Visit&& visit, std::uint64_t lowest_min = 0) {
  visit(p.min_exp, parameter_info{"min_exp", value_kind::count, lowest_min, largest_exponent,
                                  "the smallest chunk but the last is 2^min_exp bytes"});
  visit(p.max_exp,
        parameter_info{"max_exp", value_kind::count, 0, largest_exponent, "the largest chunk is 2^max_exp bytes"});
  visit(p.mask_bits, parameter_info{"mask_bits", value_kind::count, 2, largest_exponent,
                                    "the expected distance between cut-points is 2^mask_bits bytes"});
}

/// Returns the rules min_exp <= mask_bits <= max_exp, which Borg requires.
[[nodiscard]] inline parameter_rules exponent_rules() {
  return {rules::at_most("min_exp", "mask_bits"), rules::at_most("mask_bits", "max_exp")};
}

}  // namespace cutpoint
