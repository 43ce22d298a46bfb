// Parameters of `buzhash` and of the profiles that share it: casync, desync-legacy, pbs, kopia-buzhash, ipfs-buzhash.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The table of 32-bit words that a buzhash xors.
enum class buzhash_table { casync, kopia, ipfs };

/// Which hashes are cut-points. D is `avg_bytes`.
enum class buzhash_test {
  /// The low log2(D) bits are all ones.
  ones,
  /// The low log2(D) bits are all zero (kopia, IPFS).
  zeros,
  /// `h mod M == M - 1` with `M = trunc(D / (1.33237515 - 1.42888852e-7 * D))`, held between min_bytes and max_bytes; D
  /// is
  /// at most 8 MiB and need be no power of two.
  casync,
  /// As `casync`, but M is not held, and a chunk of just `min_bytes` is not tested (desync up to v1.0.4).
  desync_legacy,
  /// `(h & (2D-1)) >= 2D - 3` (Proxmox Backup Server).
  pbs,
};

/// Cut after byte i when `h` passes `test`, where h is the xor, over the window that ends there, of each byte's word
/// rotated left once for every byte that follows it.
struct buzhash_parameters {
  /// Expected distance between cut-points without limits; a power of two but for the casync tests.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;
  buzhash_table table = buzhash_table::casync;
  buzhash_test test = buzhash_test::ones;

  friend bool operator==(const buzhash_parameters&, const buzhash_parameters&) = default;
};

}  // namespace cutpoint
