// Parameters of `rabin` (LBFS; P-Dedupe eq. 1-2), of the profile `restic`, and of `tttd`, which adds a backup divisor.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The test that a residue must pass to be a candidate.
enum class rabin_test {
  pattern,  ///< the low log2(avg_bytes) bits equal those of 0x78 (LBFS)
  zeros,    ///< the low log2(avg_bytes) bits are zeros (restic)
};

/// An irreducible polynomial of degree 53 over GF(2), in which bit k stands for x^k.
inline constexpr std::uint64_t default_rabin_polynomial = 0x3DA3358B4DC173;

/// Cuts after byte i if the residue of the window that ends with byte i passes `test`. The residue is that of the
/// window, taken as a polynomial over GF(2) whose first byte is the most significant, modulo `polynomial`.
struct rabin_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53. restic draws one for each repository.
  std::uint64_t polynomial = default_rabin_polynomial;
  rabin_test test = rabin_test::pattern;

  friend bool operator==(const rabin_parameters&, const rabin_parameters&) = default;
};

/// Two thresholds, two divisors (HP; AppDedupe section 2.3). It cuts as `rabin` does, but a chunk that reaches its
/// maximum is cut after the last byte that matched half the divisor, if any did.
struct tttd_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53.
  std::uint64_t polynomial = default_rabin_polynomial;

  friend bool operator==(const tttd_parameters&, const tttd_parameters&) = default;
};

}  // namespace cutpoint
