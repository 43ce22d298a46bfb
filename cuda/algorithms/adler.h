// The rolling Adler-32 sum, `adler`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// The state of the rolling sum: S1, the sum of A[b] over the window, and S2, the sum of all values of S1 since the
/// window's first byte, both modulo 2^32. The table is A.
struct rolling_adler {
  struct state {
    std::uint32_t s1 = 0;
    std::uint32_t s2 = 0;
  };
  using entry = std::uint32_t;
  static constexpr std::uint32_t tables = 1;
  static constexpr bool forgets = false;
  state zeros = {};
  std::uint32_t window = 0;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of outgoing, byte_of incoming) const {
    const std::uint32_t passed = Window != 0 ? Window : window;
    const std::uint32_t removed = look_up(0, outgoing);
    h.s1 += look_up(0, incoming) - removed;
    h.s2 += h.s1 - passed * removed;
    return h;
  }
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t word(state h) { return h.s2; }
};

using adler_specification = rolling_specification<rolling_adler, pattern_test, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
