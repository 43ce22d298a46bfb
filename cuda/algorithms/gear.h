// The gear hash, and `gear` with the profile `xet`.
#pragma once

#include "cuda/scan/rolling_scan.h"

namespace cutpoint::cuda {

/// The number of bytes that a gear hash depends on.
inline constexpr std::uint32_t gear_window = 64;

/// The gear hash, `h = 2h + G[b]`: after 64 shifts a byte has no effect. `Word` is the part that tests use, all of h or
/// its upper half.
template <class Word>
struct rolling_gear {
  using state = std::uint64_t;
  using entry = std::uint64_t;
  static constexpr std::uint32_t tables = 1;
  static constexpr bool forgets = true;
  static constexpr std::uint32_t window = gear_window;
  static constexpr state zeros = 0;  // the hash of the zeros that a warm-up replaces
  /// The number 2, which is not a constant so that the compiler multiplies. Shifts and additions would compete with the
  /// rest of the scan for one pipeline.
  std::uint32_t factor = 2;

  template <std::uint32_t Window, class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE state roll(const LookUp& look_up, state h, byte_of, byte_of incoming) const {
    return factor * h + look_up(0, incoming);
  }
  [[nodiscard]] CUTPOINT_DEVICE static Word word(state h) { return static_cast<Word>(h >> (64 - 8 * sizeof(Word))); }
};

using gear_specification =
    rolling_specification<rolling_gear<std::uint32_t>, zeros_test<std::uint32_t>, 1, first_candidate_cut_finder>;

}  // namespace cutpoint::cuda
