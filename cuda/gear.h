// The gear hash, and `gear` with the profile `xet`.
#pragma once

#include "cuda/rolling.h"

namespace cutpoint::cuda {

/// `h = 2h + G[b]`: 64 shifts push older bytes out.
struct rolling_gear {
  using state = std::uint64_t;
  using entry = std::uint64_t;
  static constexpr std::uint32_t tables = 1;
  static constexpr bool forgets = true;
  static constexpr std::uint32_t window = 64;
  static constexpr state zeros = 0;  // what a warm-up pushes out

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, std::uint32_t,
                                           std::uint32_t incoming) const {
    return 2 * h + look_up(0, incoming);
  }
  [[nodiscard]] CUTPOINT_DEVICE static std::uint64_t word(state h) { return h; }
};

using gear_scheme = rolling_scheme<rolling_gear, zeros_test, 1, first_candidate_cutter>;

}  // namespace cutpoint::cuda
