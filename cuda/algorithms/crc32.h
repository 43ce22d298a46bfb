// CRC-32C over a rolling window, `crc32`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// Bits reflected, no initial value and no final xor, seen through the pattern that is looked for
/// (cuda/cut/make_specification.h). Tables: the CRC of a byte, and what a byte is worth when the window has passed it.
struct rolling_crc32 {
  using state = std::uint32_t;
  using entry = std::uint32_t;
  static constexpr std::uint32_t tables = 2;
  static constexpr bool forgets = false;
  state zeros = 0;
  std::uint32_t window = 0;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of outgoing, byte_of incoming) const {
    const byte_of low{h ^ (incoming.word >> incoming.shift), 0};
    return look_up(0, low) ^ (h >> 8) ^ look_up(1, outgoing);
  }
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t word(state h) { return h; }
};

using crc32_specification =
    rolling_specification<rolling_crc32, zeros_test<std::uint32_t>, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
