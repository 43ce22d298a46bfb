// Buzhash, `buzhash` with its profiles (casync, desync-legacy, pbs, kopia-buzhash, ipfs-buzhash).
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// The exclusive or of the table entries of the window's bytes. Each is rotated left once for every byte that follows
/// it.
struct rolling_buzhash : word_hash<std::uint32_t> {
  static constexpr std::uint32_t tables = 1;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of outgoing, byte_of incoming) const {
    const std::uint32_t passed = Window != 0 ? Window : window;
    return rotate_left(h, 1) ^ look_up(0, incoming) ^ rotate_left(look_up(0, outgoing), passed % 32);
  }
};

/// Accepts words with certain residues modulo a power of two or any other number. A multiplication and a rotation map
/// these words, and no others, to the lowest numbers.
struct residue_test {
  std::uint32_t factor = 0;
  std::uint32_t offset = 0;
  std::uint32_t turns = 0;
  std::uint32_t highest = 0;
  [[nodiscard]] CUTPOINT_HOST_DEVICE bool operator()(std::uint32_t word) const {
    return rotate_left(word * factor + offset, turns) <= highest;
  }
};

using buzhash_specification = rolling_specification<rolling_buzhash, residue_test, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
