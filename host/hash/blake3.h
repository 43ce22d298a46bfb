// BLAKE3 with digests of 32 bytes, with or without a key: the constants of its definition, and a plain loop for one
// message. https://github.com/BLAKE3-team/BLAKE3-specs
#pragma once

#include <array>
#include <cstdint>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint::blake3 {

inline constexpr std::size_t block_bytes = 64;
inline constexpr std::size_t leaf_bytes = 1024;  ///< called "chunk" in the specification
inline constexpr std::size_t digest_bytes = 32;
/// The largest number of complete subtrees that wait for their right neighbour: one for each bit of the number of
/// leaves.
inline constexpr std::size_t most_subtrees = 64 - 10;

/// A chaining value or a key as little-endian words.
using words = std::array<std::uint32_t, 8>;

inline constexpr words initial_words = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

inline constexpr std::size_t round_count = 7;

/// The order in which a round uses the message words.
using message_order = std::array<std::uint8_t, 16>;
inline constexpr std::array<message_order, round_count> message_orders = [] {
  constexpr message_order permutation = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  std::array<message_order, round_count> orders = {};
  for (std::uint8_t i = 0; i < 16; ++i) orders[0][i] = i;
  for (std::size_t round = 1; round < round_count; ++round) {
    for (std::size_t i = 0; i < 16; ++i) orders[round][i] = orders[round - 1][permutation[i]];
  }
  return orders;
}();

/// Flags of a compression, in the last word of its state.
inline constexpr std::uint32_t leaf_start = 1;
inline constexpr std::uint32_t leaf_end = 2;
inline constexpr std::uint32_t parent = 4;
inline constexpr std::uint32_t root = 8;
inline constexpr std::uint32_t keyed = 16;

/// The state in which the hash of a message starts.
struct start {
  words key = initial_words;
  std::uint32_t flags = 0;  ///< flags of every block
};
[[nodiscard]] start start_of(const std::optional<fingerprint_key>& key);

[[nodiscard]] digest hash(byte_span message, const start& start_state);

}  // namespace cutpoint::blake3
