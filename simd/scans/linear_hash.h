// Describes the rolling hashes that are linear over GF(2), by the images of single bits.
#pragma once

#include <array>
#include <cstdint>

#include "host/algorithms/crc32.h"
#include "host/algorithms/rabin.h"
#include "simd/scans/lane_scanner.h"

namespace cutpoint::simd {

/// A linear map from bytes to words: the images of the eight bits.
using byte_map = std::array<std::uint64_t, 8>;

/// A rolling hash with the following step between the windows that end at the positions i - 1 and i:
///
///   hash = (hash >> 8) ^ reduce((hash ^ byte[i]) & 0xff) ^ exchange(byte[i - window])
///
/// It leads forward, from the hash at i - 1 to that at i, or backward.
struct linear_hash {
  rolling_direction direction;
  std::uint64_t window;
  byte_map reduce = {};
  byte_map exchange = {};
};

/// CRC-32C has four bytes and rolls forward.
inline linear_hash linear_crc32(std::uint64_t window) {
  const crc32_hash hash(window);
  linear_hash steps{.direction = rolling_direction::forward, .window = window};
  for (unsigned int bit = 0; bit < 8; ++bit) {
    const auto byte = static_cast<std::uint8_t>(1u << bit);
    steps.reduce[bit] = hash.absorb(0, byte);
    steps.exchange[bit] = hash.removal_of(byte);
  }
  return steps;
}

/// The Rabin hash has seven bytes. A forward step multiplies it by x^8 and reduces 8 of its 53 bits, which lie in two
/// bytes. A backward step divides it by x^8, and reduces its lowest byte.
inline linear_hash linear_rabin(std::uint64_t polynomial, std::uint64_t window) {
  linear_hash steps{.direction = rolling_direction::backward, .window = window};
  std::uint64_t power = 1;
  for (std::size_t bit = 8; bit-- > 0;) {  // x^(bit - 8)
    power = ((power & 1) != 0 ? power ^ polynomial : power) >> 1;
    steps.reduce[bit] = power;
  }
  power = 1;
  for (std::uint64_t i = 0; i < 8 * (window - 1); ++i) power = gf2::times_x(power, polynomial);
  for (std::uint64_t& image : steps.exchange) {  // x^(8 (window - 1) + bit)
    image = power;
    power = gf2::times_x(power, polynomial);
  }
  return steps;
}

}  // namespace cutpoint::simd
