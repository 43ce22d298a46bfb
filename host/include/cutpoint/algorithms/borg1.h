// Parameters of the profile `borg1` (BorgBackup 1.x `buzhash`, `--chunker-params MIN_EXP,MAX_EXP,MASK_BITS,WINDOW`).
#pragma once

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Buzhash whose window lies after the cut: cut where the low `mask_bits` bits of the hash of the next `window_bytes`
/// are zero.
struct borg1_parameters {
  /// Smallest chunk but the last is 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// Largest chunk is 2^max_exp bytes, at least 2^min_exp + window_bytes + 1.
  std::uint64_t max_exp = 23;
  /// Expected distance between cut-points is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// Bytes after the cut that decide it.
  std::uint64_t window_bytes = 4095;
  /// Xored into every entry of the table: secret and drawn for each repository, 32 bits.
  std::uint64_t seed = 0;

  friend bool operator==(const borg1_parameters&, const borg1_parameters&) = default;
};

}  // namespace cutpoint
