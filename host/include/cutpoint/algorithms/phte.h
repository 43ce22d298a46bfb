// Parameters of the algorithms whose cuts AES decides (PHTE: polynomial hash, then encrypt): `toeplitz-aes` and
// `rabin-aes`, which Borg 2 has too, and `toeplitz128-aes`.
#pragma once

#include <cutpoint/bytes.h>
#include <cutpoint/secret_key.h>

namespace cutpoint {

/// The hash of the window of 64 bytes whose digest AES encrypts.
enum class phte_hash {
  toeplitz,     ///< a Toeplitz hash of 64 bits, over a secret table
  rabin,        ///< the residue of the window modulo a secret polynomial of degree 64
  toeplitz128,  ///< two Toeplitz hashes of 64 bits, over independent tables
};

/// A chunk is cut after the byte at which the first 8 bytes of AES-128(digest of the 64 bytes that end there), as a
/// little-endian number, have zeros in a mask of low bits: a strict mask up to the length `normal_size`, and a loose one
/// past it. Those who do not have the key learn from the cuts only which windows are equal ("Breaking and Fixing
/// Content-Defined Chunking", eprint 2025/558), for as much data as docs/secure-cuts.md says.
template <phte_hash Hash>
struct phte_parameters {
  /// No chunk but the last has 2^min_exp bytes or less: 6 to 30, so that it holds the window.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes; more than `min_exp`.
  std::uint64_t max_exp = 23;
  /// The number of bits of both masks without normalization, from `min_exp` to `max_exp`.
  std::uint64_t mask_bits = 21;
  /// The number of bits by which the strict mask exceeds `mask_bits` and the loose one falls short of it: 0 to 16, and
  /// less than `mask_bits`. A larger number narrows the distribution of sizes.
  std::uint64_t normalization = 2;
  /// The length in bytes up to which the strict mask decides; 0 means 2^mask_bits - 2^(mask_bits - normalization). It has
  /// no effect without normalization.
  std::uint64_t normal_size = 0;
  /// The key whose AES-256-CTR key stream gives the key of AES and the table or polynomial. Borg 2 derives it as
  /// SHA-256(id_key || NAME of the algorithm). Without a key the cuts hide nothing.
  secret_key key = {};

  friend bool operator==(const phte_parameters&, const phte_parameters&) = default;
};

using toeplitz_aes_parameters = phte_parameters<phte_hash::toeplitz>;
using rabin_aes_parameters = phte_parameters<phte_hash::rabin>;
using toeplitz128_aes_parameters = phte_parameters<phte_hash::toeplitz128>;

}  // namespace cutpoint
