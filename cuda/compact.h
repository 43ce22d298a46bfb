// Compaction: from one bit per position to a sorted list of positions. This is the std:: form, for the host; the same
// function for device memory and a stream is in cuda/compact.cuh.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace cutpoint::cuda {

/// `base + 64·w + j`, modulo 2^64, for every set bit j of words[w], in the order of the bits. Throws std::bad_alloc.
[[nodiscard]] inline std::vector<std::uint64_t> set_bit_positions(std::span<const std::uint64_t> words,
                                                                  std::uint64_t base) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t word : words) {
    for (; word != 0; word &= word - 1) positions.push_back(base + static_cast<std::uint64_t>(std::countr_zero(word)));
    base += 64;
  }
  return positions;
}

}  // namespace cutpoint::cuda
