// AES with a key of 128 bits (FIPS 197), one block at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cutpoint {

namespace aes {

/// Returns a * x modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2.1).
constexpr std::uint8_t times_x(std::uint8_t a) { return static_cast<std::uint8_t>(a << 1 ^ (a >> 7) * 0x1b); }

constexpr std::uint8_t product(std::uint8_t a, std::uint8_t b) {
  std::uint8_t sum = 0;
  for (int bit = 7; bit >= 0; --bit) sum = static_cast<std::uint8_t>(times_x(sum) ^ (b >> bit & 1) * a);
  return sum;
}

/// Returns the substitution of a byte: the affine map of its inverse, which is its 254th power (section 5.1.1).
constexpr std::uint8_t substitute(std::uint8_t a) {
  std::uint8_t inverse = 1;
  for (int bit = 7; bit >= 0; --bit) {
    inverse = product(inverse, inverse);
    if ((254 >> bit & 1) != 0) inverse = product(inverse, a);
  }
  return static_cast<std::uint8_t>(inverse ^ std::rotl(inverse, 1) ^ std::rotl(inverse, 2) ^ std::rotl(inverse, 3) ^
                                   std::rotl(inverse, 4) ^ 0x63);
}

/// What a byte of row 0 adds to its column in a round: the column (2s, s, s, 3s) of its substitution s. Row r adds the
/// same, rotated by r bytes. Columns are words whose lowest byte is row 0.
inline constexpr std::array<std::uint32_t, 256> columns = [] {
  std::array<std::uint32_t, 256> all = {};
  for (std::uint32_t byte = 0; byte < all.size(); ++byte) {
    const std::uint8_t s = substitute(static_cast<std::uint8_t>(byte));
    const std::uint8_t twice = times_x(s);
    all[byte] = twice | std::uint32_t{s} << 8 | std::uint32_t{s} << 16 | static_cast<std::uint32_t>(twice ^ s) << 24;
  }
  return all;
}();

/// Returns byte `row` of a column, and its substitution.
constexpr std::uint32_t byte_of(std::uint32_t column, std::size_t row) { return column >> (8 * row) & 0xff; }
constexpr std::uint32_t substituted(std::uint32_t byte) { return columns[byte] >> 8 & 0xff; }

}  // namespace aes

/// The round keys, and the encryption of one block by look-ups at bytes that depend on the key: other programs on the
/// same core may learn of them through the cache. Kernels use instructions for AES, which no timing tells anything of.
struct aes128 {
  using block = std::array<std::uint32_t, 4>;  ///< its columns: little-endian words of its bytes

  std::array<block, 11> round_keys;

  /// Section 5.2.
  explicit constexpr aes128(std::span<const std::uint8_t, 16> key) : round_keys() {
    for (std::size_t i = 0; i < key.size(); ++i) round_keys[0][i / 4] |= std::uint32_t{key[i]} << (8 * (i % 4));
    std::uint8_t constant = 1;
    for (std::size_t round = 1; round < round_keys.size(); ++round, constant = aes::times_x(constant)) {
      const block& before = round_keys[round - 1];
      std::uint32_t column = constant;
      for (std::size_t row = 0; row < 4; ++row) {
        column ^= aes::substituted(aes::byte_of(before[3], (row + 1) % 4)) << (8 * row);
      }
      for (std::size_t i = 0; i < before.size(); ++i) round_keys[round][i] = column ^= before[i];
    }
  }

  /// Returns the first half of the encryption of a block of two little-endian words (section 5.1).
  [[nodiscard]] constexpr std::uint64_t encrypted_word(std::uint64_t first, std::uint64_t second) const {
    block state = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
                   static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] ^= round_keys[0][i];
    for (std::size_t round = 1; round + 1 < round_keys.size(); ++round) {
      block next = round_keys[round];
      for (std::size_t i = 0; i < next.size(); ++i) {
        for (std::size_t row = 0; row < 4; ++row) {
          next[i] ^= std::rotl(aes::columns[aes::byte_of(state[(i + row) % 4], row)], static_cast<int>(8 * row));
        }
      }
      state = next;
    }
    std::uint64_t word = round_keys.back()[0] | std::uint64_t{round_keys.back()[1]} << 32;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t row = 0; row < 4; ++row) {
        word ^= std::uint64_t{aes::substituted(aes::byte_of(state[(i + row) % 4], row))} << (32 * i + 8 * row);
      }
    }
    return word;
  }
};

}  // namespace cutpoint
