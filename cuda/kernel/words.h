// Operations on words and their bytes that are single instructions on a device, for both compilers.
#pragma once

#include "cuda/kernel/bits.h"
#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

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

}  // namespace cutpoint::cuda
