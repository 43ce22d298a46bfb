// Comparisons of four bytes at a time in 32-bit words, and masks of sixteen bytes that lie in a range.
#pragma once

#include "cuda/kernel/bits.h"
#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

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
