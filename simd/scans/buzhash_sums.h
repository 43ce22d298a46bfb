// The sums from which `buzhash_line_scan.cc` makes hashes, and the filter that finds candidates among them.
//
// The word of byte i, rotated right i times, is added to all later sums (a sum is a XOR). A hash is then the difference
// of two sums, rotated left i times:
//
//   block          64 lines of 32 bytes, side by side: column j has byte j of each line
//   turned word    word of a byte, rotated right j times (32 columns are a whole turn)
//   prefix         sum of the turned words of a line up to a column
//   base           sum of the turned words of all lines before a line
//
// Each of them is kept in four planes, which have one byte of the words of 64 lines.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "simd/scans/byte_columns.h"

#if CUTPOINT_HAS_AVX512_DL
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd {

inline constexpr std::uint64_t line_bytes = 32;
inline constexpr std::uint64_t block_bytes = line_bytes * column_lines;
inline constexpr std::size_t word_planes = 4;

/// Where the rings of sums have one plane of the sums that make up a hash.
struct hash_plane {
  std::uint32_t plane;
  std::uint32_t newest;  ///< the prefix at the last byte of the window, relative to `hashed_block::newest`
  std::uint32_t oldest;  ///< the prefix at the byte before the window, relative to `hashed_block::oldest`
  std::uint32_t
      is_back;  ///< whether that byte's line is `back_lines() + 1` lines before the last byte's, not `back_lines()`
};

/// The layout of the rings of prefixes and bases. A ring has as many blocks as the window needs. The first is repeated
/// after the last, so that 64 lines can be read from any line on.
class ring_layout {
 public:
  static constexpr std::uint64_t most_blocks = 8;
  static constexpr std::uint64_t most_stride = column_lines * (most_blocks + 1);
  static constexpr std::uint64_t most_window = (most_blocks - 2) * block_bytes - 1;

  explicit ring_layout(std::uint64_t window)
      : back_lines_(window / line_bytes),
        blocks_(2 + (back_lines_ + column_lines) / column_lines),
        // Planes at a multiple of 4 KiB would compete for the same sets of the first-level cache.
        stride_(column_lines * ((blocks_ + 1) | 1)) {
    const std::uint64_t back_columns = window % line_bytes;
    for (std::uint64_t column = 0; column < line_bytes; ++column) {
      for (std::uint32_t plane = 0; plane < word_planes; ++plane) {
        planes_[column][plane] = {.plane = plane,
                                  .newest = prefix_offset(column, plane),
                                  .oldest = prefix_offset((column - back_columns) % line_bytes, plane),
                                  .is_back = column < back_columns};
      }
    }
  }

  [[nodiscard]] std::uint64_t back_lines() const { return back_lines_; }
  [[nodiscard]] std::uint64_t lines() const { return blocks_ * column_lines; }
  /// Returns the distance of two planes, in bytes.
  [[nodiscard]] std::uint64_t stride() const { return stride_; }
  [[nodiscard]] const std::array<hash_plane, word_planes>& planes(std::uint64_t column) const {
    return planes_[column];
  }

 private:
  /// The prefixes are stored before planes are exchanged, which rotates by multiples of 8.
  [[nodiscard]] std::uint32_t prefix_offset(std::uint64_t column, std::uint32_t plane) const {
    return static_cast<std::uint32_t>((word_planes * column + (plane + column / 8) % word_planes) * stride_);
  }

  std::uint64_t back_lines_;
  std::uint64_t blocks_;
  std::uint64_t stride_;
  std::array<std::array<hash_plane, word_planes>, line_bytes> planes_;
};

/// A block whose hashes are tested.
struct hashed_block {
  const std::uint8_t* newest;
  const std::uint8_t* oldest[2];  ///< indexed by `hash_plane::is_back`
  /// The difference between the bases of the two lines, for each value of `is_back`.
  alignas(64) std::uint8_t bases[2][word_planes][column_lines];

  /// Returns one plane of the hashes in a column, before they are rotated left.
  HWY_INLINE __m512i operator[](const hash_plane& p) const {
    return _mm512_ternarylogic_epi32(_mm512_load_si512(newest + p.newest),
                                     _mm512_loadu_si512(oldest[p.is_back] + p.oldest),
                                     _mm512_load_si512(bases[p.is_back][p.plane]), 0x96);
  }
  /// Returns the hash of one line, before it is rotated left.
  [[nodiscard]] std::uint32_t hash(const std::array<hash_plane, word_planes>& planes, std::uint64_t line) const {
    std::uint32_t word = 0;
    for (const hash_plane& p : planes) {
      const auto byte = static_cast<std::uint8_t>(newest[p.newest + line] ^ oldest[p.is_back][p.oldest + line] ^
                                                  bases[p.is_back][p.plane][line]);
      word |= std::uint32_t{byte} << (8 * p.plane);
    }
    return word;
  }
};

/// Accepts hashes that have zeros under a mask. Where the mask has bits in more than two planes, it tests only the two
/// that have most of them.
class zeros_filter {
 public:
  zeros_filter(const ring_layout& layout, std::uint32_t mask) {
    for (std::uint64_t column = 0; column < line_bytes; ++column) {
      const std::uint32_t turned = std::rotr(mask, static_cast<int>(column));
      std::array<plane_test, word_planes> tests;
      for (std::size_t i = 0; i < word_planes; ++i) {
        tests[i] = {layout.planes(column)[i], ((turned >> (8 * i)) & 0xff) * 0x01010101u};
      }
      std::sort(tests.begin(), tests.end(),
                [](const auto& a, const auto& b) { return std::popcount(a.mask) > std::popcount(b.mask); });
      std::copy_n(tests.begin(), 2, tests_[column].begin());
    }
  }

  /// Merges the hashes of a column into those of the columns before it.
  HWY_INLINE __m512i merge(__m512i merged, const hashed_block& block, std::uint64_t column) const {
    return _mm512_min_epu8(merged, differing(block, column));
  }
  [[nodiscard]] HWY_INLINE bool accepts_any(__m512i merged) const {
    return _mm512_testn_epi8_mask(merged, merged) != 0;
  }
  /// Returns the lines whose hashes in a column are accepted.
  [[nodiscard]] HWY_INLINE std::uint64_t accepted(const hashed_block& block, std::uint64_t column) const {
    const __m512i bits = differing(block, column);
    return _mm512_testn_epi8_mask(bits, bits);
  }

 private:
  struct plane_test {
    hash_plane plane;
    std::uint32_t mask;
  };

  HWY_INLINE __m512i differing(const hashed_block& block, std::uint64_t column) const {
    const auto& [first, second] = tests_[column];
    const __m512i bits = _mm512_and_si512(block[first.plane], _mm512_set1_epi32(static_cast<int>(first.mask)));
    return _mm512_ternarylogic_epi32(bits, block[second.plane], _mm512_set1_epi32(static_cast<int>(second.mask)), 0xf8);
  }

  std::array<std::array<plane_test, 2>, line_bytes> tests_;
};

}  // namespace cutpoint::simd
CUTPOINT_AFTER_AVX512_DL;
#endif
