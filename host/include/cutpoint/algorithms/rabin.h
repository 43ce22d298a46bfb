// Parameters of `rabin` (LBFS; P-Dedupe eq. 1-2), of the profile `restic`, and of `tttd`, which adds a backup divisor.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Which residues are cut-points.
enum class rabin_test {
  pattern,  ///< the low log2(avg_bytes) bits equal those of 0x78 (LBFS)
  zeros,    ///< the low log2(avg_bytes) bits are zero (restic)
};

/// An irreducible polynomial of degree 53 over GF(2), bit k standing for x^k.
inline constexpr std::uint64_t default_rabin_polynomial = 0x3DA3358B4DC173;

/// Cut after byte i when the residue of the window that ends there, as a polynomial over GF(2) with its first byte most
/// significant, modulo `polynomial`, passes `test`.
struct rabin_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53. restic draws one for each repository.
  std::uint64_t polynomial = default_rabin_polynomial;
  rabin_test test = rabin_test::pattern;

  friend bool operator==(const rabin_parameters&, const rabin_parameters&) = default;
};

/// Two thresholds, two divisors (HP; AppDedupe section 2.3): as `rabin`, but a chunk that reaches its maximum is cut
/// after the last byte that matched half the divisor, if any did.
struct tttd_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53.
  std::uint64_t polynomial = default_rabin_polynomial;

  friend bool operator==(const tttd_parameters&, const tttd_parameters&) = default;
};

}  // namespace cutpoint
