// Parameters of `buzhash` and of the profiles that share it: casync, desync-legacy, pbs, kopia-buzhash, ipfs-buzhash.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The table that gives each byte value a 32-bit word.
enum class buzhash_table { casync, kopia, ipfs };

/// The test that a hash must pass to be a candidate. D is `avg_bytes`.
enum class buzhash_test {
  /// The low log2(D) bits are ones.
  ones,
  /// The low log2(D) bits are zeros (kopia, IPFS).
  zeros,
  /// `h mod M == M - 1` with `M = trunc(D / (1.33237515 - 1.42888852e-7 * D))`, clamped to between min_bytes and
  /// max_bytes. D is at most 128 MiB and need not be a power of two. For D above 9,324,556 the quotient is negative, and
  /// M is max_bytes, as in the program casync on x86-64, but at most 2^32 - 1.
  casync,
  /// As `casync`, but M is not clamped, and a chunk of exactly `min_bytes` is not tested (desync up to v1.0.4). M is the
  /// quotient modulo 2^32, as Go computes it on x86-64.
  desync_legacy,
  /// `(h & (2D-1)) >= 2D - 3` (Proxmox Backup Server).
  pbs,
};

/// Cuts after byte i if the hash `h` of the window that ends with byte i passes `test`. To make `h`, each byte's word
/// is rotated left once for every byte that follows it in the window, and these words are xored.
struct buzhash_parameters {
  /// The expected distance in bytes between candidates: a power of two, except for the two casync tests.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  buzhash_table table = buzhash_table::casync;
  buzhash_test test = buzhash_test::ones;

  friend bool operator==(const buzhash_parameters&, const buzhash_parameters&) = default;
};

}  // namespace cutpoint
