// Searches for the cut of a chunk whose cuts AES decides: one source, compiled for each width of AES instructions.
#pragma once

#include <array>
#include <cstdint>

namespace cutpoint::simd {

/// 16 bytes as two little-endian words. A digest of 64 bits is the first, and the second is 0.
using phte_block = std::array<std::uint64_t, 2>;

/// What a search reads, all of it secret. The look-ups in both tables are at bytes of the stream.
///
/// Searches roll a digest combined with round key 0, which AES begins with: e = digest ^ k. A step of a linear hash is then
/// e' = step(e) ^ entering[newest] ^ leaving[oldest], if `entering` includes step(k) ^ k.
struct phte_tables {
  alignas(64) std::array<phte_block, 256> entering;
  std::array<phte_block, 256> leaving;
  std::array<phte_block, 11> round_keys;  ///< in the order of their bytes
  std::uint64_t modulus;                  ///< of rabin-aes, without its x^64
  std::uint64_t quotient;                 ///< x^72 divided by it, without remainder
};

/// Returns the first byte in [first, last) of a chunk at which the decision word has zeros in `mask`, or `unlimited`.
/// At least 64 bytes lie before `first`.
using phte_search = std::uint64_t (*)(const phte_tables& tables, const std::uint8_t* chunk, std::uint64_t first,
                                      std::uint64_t last, std::uint64_t mask);

/// The searches of one width: by Toeplitz hashes and by the Rabin hash. Both are null if they were not compiled.
struct phte_searches {
  phte_search toeplitz;
  phte_search rabin;
};
[[nodiscard]] phte_searches phte_searches_by_aes_ni() noexcept;
/// VAES and VPCLMULQDQ with AVX2, and with AVX-512.
[[nodiscard]] phte_searches phte_searches_by_vaes256() noexcept;
[[nodiscard]] phte_searches phte_searches_by_vaes512() noexcept;
[[nodiscard]] phte_searches phte_searches_by_neon() noexcept;

}  // namespace cutpoint::simd
