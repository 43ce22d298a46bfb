// The Rabin hash, `rabin` with the profile `restic`, and `tttd`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// The residue of the window modulo a polynomial of degree 53, combined with the pattern of the test
/// (`append_removals`). The tables have the reduction of the top byte of a shifted residue, and the value
/// of each byte that leaves the window.
struct rolling_rabin : word_hash<std::uint64_t> {
  static constexpr std::uint32_t tables = 2;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of outgoing, byte_of incoming) const {
    const byte_of top{static_cast<std::uint32_t>(h >> 32), 13};  // the top byte of 53 bits
    return ((h << 8) | incoming.value()) ^ look_up(0, top) ^ look_up(1, outgoing);
  }
};

/// Cuts after the first main candidate (level 0). If there is none before the maximum, it cuts after the last backup
/// candidate (level 1).
struct backup_cut_finder {
  std::uint64_t first = 0;  ///< the shortest chunk whose end is tested
  std::uint64_t reach = 0;  ///< the largest chunk; all ones for no maximum

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    const std::uint64_t end = start + length;
    if (length < first) return end;
    const std::uint64_t lowest = start + first - 1;
    const std::uint64_t main = next_candidate(warp, in, 0, lowest, end);
    if (main != end) return main + 1;
    if (length != reach) return end;
    const std::uint64_t backup = end_of_last_candidate(warp, in, 1, lowest, end);
    return backup != lowest ? backup : end;
  }
};

using rabin_specification =
    rolling_specification<rolling_rabin, zeros_test<std::uint32_t>, 1, first_candidate_cut_finder>;
using tttd_specification = rolling_specification<rolling_rabin, zeros_test<std::uint32_t>, 2, backup_cut_finder>;

}  // namespace cutpoint::cuda
