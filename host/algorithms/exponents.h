// Sizes as powers of two, as Borg's chunkers take them.
#pragma once

#include "host/algorithms/reference.h"

namespace cutpoint {

inline constexpr std::uint64_t largest_exponent = 30;

template <class Self, class Visit>
void visit_exponents(Self& p, Visit&& visit) {
  visit(p.min_exp, parameter_info{"min_exp", value_kind::count, 0, largest_exponent,
                                  "the smallest chunk but the last is 2^min_exp bytes"});
  visit(p.max_exp,
        parameter_info{"max_exp", value_kind::count, 0, largest_exponent, "the largest chunk is 2^max_exp bytes"});
  visit(p.mask_bits, parameter_info{"mask_bits", value_kind::count, 2, largest_exponent,
                                    "the expected distance between cut-points is 2^mask_bits bytes"});
}

/// min_exp <= mask_bits <= max_exp, as Borg asks.
template <class Parameters>
status check_exponents(const Parameters& p) {
  if (p.min_exp > p.mask_bits) {
    return out_of_bounds("min_exp", p.min_exp, fmt::format("at most mask_bits = {}", p.mask_bits));
  }
  if (p.mask_bits > p.max_exp) {
    return out_of_bounds("mask_bits", p.mask_bits, fmt::format("at most max_exp = {}", p.max_exp));
  }
  return {};
}

}  // namespace cutpoint
