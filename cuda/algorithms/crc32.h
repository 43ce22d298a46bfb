// CRC-32C over a rolling window, `crc32`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// CRC-32C with reflected bits, no initial value and no final xor, combined with the pattern of the test
/// (`append_removals`). The tables have the CRC of each byte, and the value of each byte that leaves the
/// window.
struct rolling_crc32 : word_hash<std::uint32_t> {
  static constexpr std::uint32_t tables = 2;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of outgoing, byte_of incoming) const {
    const byte_of low{h ^ (incoming.word >> incoming.shift), 0};
    return look_up(0, low) ^ (h >> 8) ^ look_up(1, outgoing);
  }
};

using crc32_specification =
    rolling_specification<rolling_crc32, zeros_test<std::uint32_t>, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
