// Inputs for gear, the scalar loop that says what its candidates are, and the lengths where kernels go wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <cutpoint/bytes.h>

#include "host/tables/fastcdc2020_gear64.h"

namespace cutpoint::cuda {

/// The definition: cut after i where the 64 bytes that end with b[i] give a hash with the mask's bits zero.
inline std::vector<std::uint64_t> scalar_candidates(byte_span bytes, std::uint64_t hash_mask) {
  std::vector<std::uint64_t> positions;
  std::uint64_t h = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    h = 2 * h + tables::fastcdc2020_gear64[bytes[i]];
    if (i >= 63 && (h & hash_mask) == 0) positions.push_back(i);
  }
  return positions;
}

/// The `bit_count` highest bits.
constexpr std::uint64_t top(int bit_count) { return bit_count == 0 ? 0 : ~std::uint64_t{0} << (64 - bit_count); }

enum class content { random, zeros, cycle_of_251 };
inline constexpr content all_contents[] = {content::random, content::zeros, content::cycle_of_251};

/// `size` bytes that begin `offset` bytes after a 16-byte boundary and end where their memory ends.
class test_stream {
 public:
  test_stream(content what, std::size_t size, std::size_t offset) : offset_(offset), memory_(offset + size) {
    std::mt19937_64 random(size);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = what == content::zeros    ? std::uint8_t{0}
                   : what == content::random ? static_cast<std::uint8_t>(random())
                                             : static_cast<std::uint8_t>(i % 251);
    }
  }
  [[nodiscard]] byte_span bytes() const { return byte_span(memory_).subspan(offset_); }

 private:
  std::size_t offset_;
  std::vector<std::uint8_t> memory_;
};

/// Around nothing, the window and the tile, and some tiles with an odd tail.
inline std::vector<std::size_t> edge_lengths(std::size_t tile_bytes) {
  return {0, 1, 62, 63, 64, 65, 66, 127, 128, tile_bytes - 1, tile_bytes, tile_bytes + 1, 3 * tile_bytes + 77};
}

}  // namespace cutpoint::cuda
