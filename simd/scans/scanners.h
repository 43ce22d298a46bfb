// Declares the makers of candidate scanners, each defined in the file of its hash.
//
// A maker returns null where a loop is faster than a scan, for example because a test accepts so many hashes. The processor
// must support the instruction set, which is `avx512_dl` where no set is named.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <cutpoint/cut_kernel.h>

#include "host/algorithms/adler.h"
#include "host/algorithms/buzhash.h"
#include "host/algorithms/crc32.h"
#include "host/algorithms/rabin.h"
#include "simd/dispatch/instruction_set.h"
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

using scanner_pointer = std::unique_ptr<const candidate_scanner>;

/// Marks the positions at which `test` accepts the rolling Adler-32 sum. The test must compare low bits with ones. Null also
/// if the window is very short or long, or the set is not `avx512_dl`.
[[nodiscard]] scanner_pointer make_adler_scanner(const adler_hash& hash, const masked_test& test, instruction_set set);

/// Marks the positions at which `rule` accepts the buzhash of the last `window` bytes. Null also if the window is too long.
[[nodiscard]] scanner_pointer make_buzhash_scanner(const buzhash32_table& table, std::uint64_t window,
                                                   const buzhash_rule& rule);

/// The same for long windows. All hashes that `rule` accepts have zeros in the bits `fixed` after they have been xored with
/// `inversion`, which is all zeros or all ones. Null if the window is longer than 12 KiB.
[[nodiscard]] scanner_pointer make_buzhash_line_scan(const buzhash32_table& table, std::uint64_t window,
                                                     const buzhash_rule& rule, std::uint32_t fixed,
                                                     std::uint32_t inversion);

/// Marks in level k the positions at which `tests[k]` accepts a hash that is linear over GF(2). Null if the tests share few
/// bits, the window is long, or the set has no vectors of 32 bytes.
[[nodiscard]] scanner_pointer make_linear_scanner(const linear_hash& hash, std::span<const masked_test> tests,
                                                  instruction_set set);

/// Marks the positions at which `test` accepts the polynomial hash modulo 2^31 - 1. Null also if the window is long, the set
/// has no vectors of 32 bytes, or a byte that leaves the window has a weight of more than 2^15.
[[nodiscard]] scanner_pointer make_rabin_inck_scanner(std::uint64_t window, const masked_test& test,
                                                      instruction_set set);

}  // namespace cutpoint::simd
