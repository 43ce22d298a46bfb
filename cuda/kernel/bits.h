// Bit operations that are single instructions on a device, for kernel bodies that both compilers compile.
#pragma once

#include <cstdint>

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

#include "cuda/kernel/block.h"

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

/// Number of set bits.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t bit_count(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

/// Rotates a word left by `count` bits, 0 to 31.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  return (word << count) | (word >> ((32 - count) % 32));
}

/// The smaller of two values. `std::min` is not available in device code.
template <class T>
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr T least(T a, T b) {
  return b < a ? b : a;
}

/// The larger of two values.
template <class T>
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr T greatest(T a, T b) {
  return a < b ? b : a;
}

}  // namespace cutpoint::cuda
