// The polynomial hash modulo 2^31 - 1, `rabin-inck`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// The hash `sum of b_k * 256^(window-1-k) mod (2^31 - 1)`. A multiplication by a power of two is a rotation of 31
/// bits, so the byte that leaves the window needs no table.
struct rolling_rabin_inck {
  using state = std::uint32_t;
  using entry = std::uint32_t;
  static constexpr std::uint32_t tables = 0;
  static constexpr bool forgets = false;
  static constexpr state zeros = 0;
  std::uint32_t window = 0;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp&, state h, byte_of outgoing, byte_of incoming) const {
    const std::uint32_t passed = Window != 0 ? Window : window;
    const state removed = rotated(outgoing.value(), 8 * passed % 31);
    return reduced(reduced(rotated(h, 8) + incoming.value()) + (prime - removed));
  }
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t word(state h) { return h; }

 private:
  static constexpr std::uint32_t prime = (std::uint32_t{1} << 31) - 1;

  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t rotated(std::uint32_t value, std::uint32_t count) {
    return ((value << count) | (value >> (31 - count))) & prime;
  }
  /// Subtracts the prime if the value is not smaller. So it reduces values below twice the prime.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t reduced(std::uint32_t value) {
    return least(value, value - prime);
  }
};

using rabin_inck_specification = rolling_specification<rolling_rabin_inck, pattern_test, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
