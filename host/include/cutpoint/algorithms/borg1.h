// Parameters of the profile `borg1` (`buzhash` of BorgBackup 1.x: `--chunker-params MIN_EXP,MAX_EXP,MASK_BITS,WINDOW`).
#pragma once

#include <cutpoint/bytes.h>

namespace cutpoint {

/// A buzhash whose window follows the cut: cuts before `window_bytes` bytes if the low `mask_bits` bits of their hash
/// are zero.
struct borg1_parameters {
  /// The smallest chunk but the last has 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes, which must be at least 2^min_exp + window_bytes + 1.
  std::uint64_t max_exp = 23;
  /// The expected distance between candidates is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// The length in bytes of the window after the cut.
  std::uint64_t window_bytes = 4095;
  /// A 32-bit number that is xored into every entry of the table. Borg draws a secret one for each repository.
  std::uint64_t seed = 0;

  friend bool operator==(const borg1_parameters&, const borg1_parameters&) = default;
};

}  // namespace cutpoint
