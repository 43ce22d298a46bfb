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
  template <class Entry>
  struct entries {
    alignas(64) std::array<Entry, 256> entering;
    std::array<Entry, 256> leaving;
  };
  template <class Entry>
  [[nodiscard]] const entries<Entry>& entries_of() const {
    if constexpr (sizeof(Entry) == sizeof(std::uint64_t)) {
      return words;
    } else {
      return blocks;
    }
  }
  entries<phte_block> blocks;
  entries<std::uint64_t> words;           ///< the first words of the blocks
  std::array<phte_block, 11> round_keys;  ///< in the order of their bytes
  // Of rabin-aes:
  std::uint64_t modulus;                                      ///< without its x^64
  std::uint64_t quotient;                                     ///< x^72 divided by it, without remainder
  alignas(64) std::array<std::uint64_t, 16> low_reductions;   ///< of x^64 times 0 to 15
  alignas(64) std::array<std::uint64_t, 16> high_reductions;  ///< of x^68 times 0 to 15
};

/// Returns the first byte in [first, last) of a chunk at which the decision word has zeros in `mask`, or `unlimited`.
/// At least 64 bytes lie before `first`.
using phte_search = std::uint64_t (*)(const phte_tables& tables, const std::uint8_t* chunk, std::uint64_t first,
                                      std::uint64_t last, std::uint64_t mask);

/// The searches of one width, by the hash. They are null if they were not compiled.
struct phte_searches {
  phte_search toeplitz;
  phte_search toeplitz128;
  phte_search rabin;
};
[[nodiscard]] phte_searches phte_searches_by_aes_ni() noexcept;
/// VAES and VPCLMULQDQ with AVX2, and with AVX-512.
[[nodiscard]] phte_searches phte_searches_by_vaes256() noexcept;
[[nodiscard]] phte_searches phte_searches_by_vaes512() noexcept;
[[nodiscard]] phte_searches phte_searches_by_neon() noexcept;

}  // namespace cutpoint::simd
