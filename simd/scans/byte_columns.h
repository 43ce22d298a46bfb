// Columns of bytes for `avx512_dl`: 64 lines of a stream side by side, and look-ups of their bytes in tables.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "simd/dispatch/dispatch.h"
#include "simd/scans/lane_scanner.h"

#if CUTPOINT_HAS_AVX512_DL
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd {

/// The lines whose bytes a column has.
inline constexpr std::uint64_t column_lines = 64;

HWY_INLINE __m128i load_block(const std::uint8_t* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// Loads 16 bytes of each line, the first at `first` and each next one `distance` bytes after it: byte n of
/// `columns[c]` is byte c of line n.
HWY_INLINE void load_columns(const std::uint8_t* first, std::uint64_t distance, __m512i* columns) {
  __m512i rows[16];
  for (std::size_t i = 0; i < 16; ++i) {
    const auto* blocks = first + i * distance;
    rows[i] = _mm512_castsi128_si512(load_block(blocks));
    rows[i] = _mm512_inserti32x4(rows[i], load_block(blocks + 16 * distance), 1);
    rows[i] = _mm512_inserti32x4(rows[i], load_block(blocks + 32 * distance), 2);
    rows[i] = _mm512_inserti32x4(rows[i], load_block(blocks + 48 * distance), 3);
  }
  for (int level = 0; level < 4; ++level) {
    for (std::size_t i = 0; i < 8; ++i) {
      columns[2 * i] = _mm512_unpacklo_epi8(rows[i], rows[i + 8]);
      columns[2 * i + 1] = _mm512_unpackhi_epi8(rows[i], rows[i + 8]);
    }
    for (std::size_t i = 0; i < 16; ++i) rows[i] = columns[i];
  }
}

/// A map from bytes to bytes.
struct alignas(64) byte_table {
  std::array<std::uint8_t, 256> bytes;
};

/// A `byte_table` in registers.
class loaded_byte_table {
 public:
  HWY_INLINE explicit loaded_byte_table(const byte_table& table) {
    for (std::size_t i = 0; i < 4; ++i) quarters_[i] = _mm512_load_si512(table.bytes.data() + 64 * i);
  }
  /// Keeps the compiler from loading the table again for each look-up.
  HWY_INLINE loaded_byte_table pinned() const {
    loaded_byte_table same = *this;
    for (__m512i& quarter : same.quarters_) asm("" : "+v"(quarter));
    return same;
  }
  /// Looks up 64 bytes. `upper` has those above 127. On Intel two single permutations under masks cost as much as a
  /// double one; on AMD twice as much.
  HWY_INLINE __m512i operator()(__m512i index, __mmask64 upper) const {
    return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(quarters_[0], index, quarters_[1]),
                                  _mm512_permutex2var_epi8(quarters_[2], index, quarters_[3]));
  }

 private:
  __m512i quarters_[4];
};

/// Keeps `vectors` vectors of each step in the window. All are zeros at first. Steps come in groups, and a window has at
/// least one group.
template <std::size_t vectors, std::uint64_t most_window>
class step_history {
 public:
  using kept_vectors = __m512i[vectors];
  /// The places of a group. Step i reads `oldest[i]`, which was kept a window before it, and then writes `newest[i]`.
  struct group {
    kept_vectors* newest;
    const kept_vectors* oldest;
  };

  HWY_INLINE explicit step_history(std::uint64_t window)
      : steps_((window + group_steps - 1) / group_steps * group_steps),
        newest_(steps_ - group_steps),
        oldest_((2 * steps_ - group_steps - window) % steps_),
        is_repeated_(window % group_steps != 0) {
    std::memset(columns_, 0, (steps_ + group_steps) * sizeof(columns_[0]));
  }
  HWY_INLINE group next_group() {
    if (is_repeated_ && newest_ == 0) std::memcpy(columns_[steps_], columns_[0], group_steps * sizeof(columns_[0]));
    newest_ = newest_ + group_steps == steps_ ? 0 : newest_ + group_steps;
    oldest_ = oldest_ + group_steps >= steps_ ? oldest_ + group_steps - steps_ : oldest_ + group_steps;
    return {columns_ + newest_, columns_ + oldest_};
  }

 private:
  std::uint64_t steps_;
  std::uint64_t newest_;
  std::uint64_t oldest_;
  bool is_repeated_;  ///< whether the first group is also kept after the last
  alignas(64) kept_vectors columns_[most_window + 2 * group_steps];
};

/// Interleaves four planes to words. Vector i has words 4 i to 4 i + 3 of each 16.
HWY_INLINE void interleave(__m512i p0, __m512i p1, __m512i p2, __m512i p3, __m512i* words) {
  const __m512i low01 = _mm512_unpacklo_epi8(p0, p1), high01 = _mm512_unpackhi_epi8(p0, p1);
  const __m512i low23 = _mm512_unpacklo_epi8(p2, p3), high23 = _mm512_unpackhi_epi8(p2, p3);
  words[0] = _mm512_unpacklo_epi16(low01, low23);
  words[1] = _mm512_unpackhi_epi16(low01, low23);
  words[2] = _mm512_unpacklo_epi16(high01, high23);
  words[3] = _mm512_unpackhi_epi16(high01, high23);
}

}  // namespace cutpoint::simd
CUTPOINT_AFTER_AVX512_DL;
#endif
