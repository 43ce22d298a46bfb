// Operations on words and their bytes that are single instructions on a device, for both compilers.
#pragma once

#include <cstdint>

#include "cuda/kernel/block.h"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

namespace cutpoint::cuda {

/// Bits [first, last) of a word.
struct bit_range {
  std::uint32_t first = 0;
  std::uint32_t last = 32;
};

/// Index of the lowest set bit of a word that is not 0.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t lowest_bit(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__ffsll(static_cast<long long>(word)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(word));
#endif
}

/// Index of the highest set bit of a word that is not 0.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t highest_bit(std::uint64_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(63 - __clzll(static_cast<long long>(word)));
#else
  return static_cast<std::uint32_t>(63 - std::countl_zero(word));
#endif
}

[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t bit_count(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  return (word << count) | (word >> ((32 - count) % 32));
}

/// The smaller of two values. `std::min` is not available in device code.
template <class T>
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr T least(T a, T b) {
  return b < a ? b : a;
}

template <class T>
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr T greatest(T a, T b) {
  return a < b ? b : a;
}

[[nodiscard]] CUTPOINT_DEVICE std::uint32_t rotate_right(std::uint32_t x, std::uint32_t count) {
  return x >> count | x << (32 - count);  // 0 < count < 32
}

/// Returns a + b. `one` is 1, which the compiler must not know: then a device adds by a multiplication, in units that hashes
/// leave idle, where additions would share those of shifts and of bitwise operations.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t sum_by_multiplier(std::uint32_t a, std::uint32_t b, std::uint32_t one) {
#if defined(__CUDA_ARCH__)
  std::uint32_t sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one), "r"(b));  // the compiler would rearrange a product
  return sum;
#else
  return a * one + b;
#endif
}

/// Picks four of the eight bytes of `low` and `high`, which are numbered from 0, the lowest of `low`, to 7, the highest of
/// `high`. The lowest hexadecimal digit of `numbers` is the number of the result's lowest byte, and so on.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t pick_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t numbers) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, numbers);
#else
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  std::uint64_t picked = 0;
  for (std::uint32_t i = 0; i < 4; ++i) picked |= (bytes >> (8 * (numbers >> 4 * i & 7)) & 0xff) << 8 * i;
  return static_cast<std::uint32_t>(picked);
#endif
}

/// The order of a word's bytes in memory.
enum class byte_order { little, big };

/// The `numbers` with which `pick_bytes` makes a word of four consecutive bytes of two words; `first`, at most 4, is the
/// first of these bytes in memory.
template <byte_order Order>
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t byte_numbers(std::uint32_t first) {
  return (Order == byte_order::little ? 0x3210 : 0x0123) + 0x1111 * first;
}

/// `Table[Index]` as a constant in device code. Device code cannot read the table itself.
template <const auto& Table, std::size_t Index>
inline constexpr std::uint32_t entry = Table[Index];

/// Sixty-four bytes of a message.
using message_words = std::uint32_t[16];

/// Ends a message after `message_bytes` bytes of its block, at most 64: writes `mark` there, if it fits, and zeros after it.
template <byte_order Order>
CUTPOINT_DEVICE void end_message(message_words& words, std::uint32_t message_bytes, std::uint32_t mark) {
  const std::uint32_t last = message_bytes / 4;
  const std::uint32_t bits = 8 * (message_bytes % 4);
  const std::uint32_t mask = Order == byte_order::little ? (std::uint32_t{1} << bits) - 1 : ~(0xffffffff >> bits);
  const std::uint32_t placed = Order == byte_order::little ? mark << bits : mark << 24 >> bits;
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 16; ++i) {
    if (i >= last) words[i] = i == last ? (words[i] & mask) | placed : 0;
  }
}

/// `byte` four times.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint32_t four_of(std::uint32_t byte) { return 0x01010101 * byte; }

/// Sets bit 7 of each byte if that byte of `a` is at least that of `b`. The other bits are 0.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t at_least(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t tops = four_of(0x80);
  const std::uint32_t low = (a | tops) - (b & ~tops);  // bit 7: the same comparison of the lower seven bits
  return ((a & ~b) | (~(a ^ b) & low)) & tops;
}

/// Moves bits 7, 15, 23 and 31 to bits 0 to 3; the other bits of `tops` are 0.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t side_by_side(std::uint32_t tops) { return tops * 0x00204081 >> 28; }

/// Sets bit i if byte i of the sixteen is at least the byte that `four` repeats.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t reaching(const bytes16& vector, std::uint32_t four) {
  std::uint32_t bits = 0;
  CUTPOINT_UNROLL
  for (std::uint32_t w = 0; w < 4; ++w) bits |= side_by_side(at_least(vector.words[w], four)) << (4 * w);
  return bits;
}

/// A byte range within a longer one, by offsets from its first byte.
struct offsets {
  std::uint32_t first;
  std::uint32_t last;

  /// The intersection of [first, last) with the `size` bytes from `base` on; `last` is greater than `base`.
  [[nodiscard]] CUTPOINT_HOST_DEVICE static offsets of(std::uint64_t base, std::uint32_t size, std::uint64_t first,
                                                       std::uint64_t last) {
    const std::uint64_t before = first > base ? first - base : 0;
    return {static_cast<std::uint32_t>(least<std::uint64_t>(before, size)),
            static_cast<std::uint32_t>(least<std::uint64_t>(last - base, size))};
  }
  /// Sets bit i of sixteen if offset + i is in the range.
  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t among_sixteen(std::uint32_t offset) const {
    const std::uint32_t before = first > offset ? least<std::uint32_t>(first - offset, 16) : 0;
    const std::uint32_t there = last > offset ? least<std::uint32_t>(last - offset, 16) : 0;
    return std::uint32_t{0xffff} << before & std::uint32_t{0xffff} >> (16 - there);
  }
};

/// Replaces the bytes whose bit is not set by zeros.
[[nodiscard]] CUTPOINT_HOST_DEVICE bytes16 only(const bytes16& vector, std::uint32_t bits) {
  bytes16 masked;
  CUTPOINT_UNROLL
  for (std::uint32_t w = 0; w < 4; ++w) {
    const std::uint32_t four = bits >> (4 * w) & 0xf;
    masked.words[w] = vector.words[w] & (four * 0x00204081 & four_of(1)) * 0xff;
  }
  return masked;
}

/// Exclusive or of every word with `flip`: all ones turn the smallest byte into the largest.
[[nodiscard]] CUTPOINT_HOST_DEVICE bytes16 flipped(const bytes16& vector, std::uint32_t flip) {
  bytes16 all;
  CUTPOINT_UNROLL
  for (std::uint32_t w = 0; w < 4; ++w) all.words[w] = vector.words[w] ^ flip;
  return all;
}

/// Four of the eight bytes of `low` and `high`, beginning with byte `first` of `low`, 0 to 3, in big-endian order.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t big_endian_of(std::uint32_t low, std::uint32_t high,
                                                               std::uint32_t first) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, 0x0123 + 0x1111 * first);
#else
  return __builtin_bswap32(static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (8 * first)));
#endif
}

/// The larger of the upper 16-bit halves, and the larger of the lower ones.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t larger_halves(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __vmaxu2(a, b);
#else
  return greatest(a >> 16, b >> 16) << 16 | greatest(a & 0xffff, b & 0xffff);
#endif
}

/// The largest byte of all vectors added. The upper byte of a half decides its comparison, so each byte is put there once.
class largest_byte {
 public:
  CUTPOINT_HOST_DEVICE void add(const bytes16& vector) {
    CUTPOINT_UNROLL
    for (std::uint32_t w = 0; w < 4; ++w) {
      odd_ = larger_halves(odd_, vector.words[w]);
      even_ = larger_halves(even_, vector.words[w] << 8);
    }
  }
  /// 0 before the first vector.
  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t value() const {
    const std::uint32_t halves = larger_halves(odd_, even_);
    return greatest(halves >> 24, halves >> 8 & 0xff);
  }

 private:
  std::uint32_t odd_ = 0;
  std::uint32_t even_ = 0;
};

}  // namespace cutpoint::cuda
