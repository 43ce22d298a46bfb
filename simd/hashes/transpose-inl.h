// Transposes byte strings to vectors of 32-bit words, and back. Vector i has the little-endian word i of every string,
// that of string l in vector lane l. Strings are loaded and stored 16 bytes at a time, with string l in row l % 4 of
// the 128-bit block l / 4. So all moves stay within blocks:
//
//   row 0:  string 0 a b c d | string 4 a b c d         word 0:  a of 0 1 2 3 | a of 4 5 6 7
//   row 1:  string 1 a b c d | string 5 a b c d   <->   word 1:  b of 0 1 2 3 | b of 4 5 6 7
//   ...                                                 ...

#if defined(CUTPOINT_SIMD_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUTPOINT_SIMD_TRANSPOSE_INL_H_
#undef CUTPOINT_SIMD_TRANSPOSE_INL_H_
#else
#define CUTPOINT_SIMD_TRANSPOSE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using word_tag = hn::ScalableTag<std::uint32_t>;
using word_vector = hn::Vec<word_tag>;
inline constexpr word_tag words_d = {};
inline constexpr std::size_t word_lanes = hn::MaxLanes(word_tag());

/// Converts four rows to words, or words to rows.
HWY_INLINE void transpose_4x4(word_vector& a, word_vector& b, word_vector& c, word_vector& d) {
  const hn::Repartition<std::uint64_t, word_tag> pairs_d;
  const auto lower = [](word_vector x, word_vector y) HWY_ATTR { return hn::InterleaveLower(words_d, x, y); };
  const auto upper = [](word_vector x, word_vector y) HWY_ATTR { return hn::InterleaveUpper(words_d, x, y); };
  const auto ab_lower = hn::BitCast(pairs_d, lower(a, b));
  const auto ab_upper = hn::BitCast(pairs_d, upper(a, b));
  const auto cd_lower = hn::BitCast(pairs_d, lower(c, d));
  const auto cd_upper = hn::BitCast(pairs_d, upper(c, d));
  a = hn::BitCast(words_d, hn::InterleaveLower(pairs_d, ab_lower, cd_lower));
  b = hn::BitCast(words_d, hn::InterleaveUpper(pairs_d, ab_lower, cd_lower));
  c = hn::BitCast(words_d, hn::InterleaveLower(pairs_d, ab_upper, cd_upper));
  d = hn::BitCast(words_d, hn::InterleaveUpper(pairs_d, ab_upper, cd_upper));
}

/// Loads 16 bytes of every fourth string.
#if HWY_TARGET == HWY_AVX3
HWY_INLINE word_vector load_row(word_tag, const std::uint8_t* const* strings, std::size_t offset) {
  const auto quarter = [&](std::size_t string) HWY_ATTR {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(strings[string] + offset));
  };
  __m512i row = _mm512_castsi128_si512(quarter(0));
  row = _mm512_inserti32x4(row, quarter(4), 1);
  row = _mm512_inserti32x4(row, quarter(8), 2);
  return word_vector{_mm512_inserti32x4(row, quarter(12), 3)};
}
#else
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_row(Tag tag, const std::uint8_t* const* strings, std::size_t offset) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    return hn::BitCast(tag, hn::LoadU(hn::Repartition<std::uint8_t, Tag>(), strings[0] + offset));
  } else {
    const hn::Half<Tag> half;
    const auto low = load_row(half, strings, offset);
    return hn::Combine(tag, load_row(half, strings + hn::MaxLanes(half), offset), low);
  }
}
#endif

/// Loads `Count` rows, four of which have 16 bytes of every string.
template <std::size_t Count>
HWY_INLINE void load_rows(const std::uint8_t* const* strings, std::size_t offset, word_vector* rows) {
  static_assert(Count == 4);
  for (std::size_t row = 0; row < 4; ++row) rows[row] = load_row(words_d, strings + row, offset);
}

/// Converts rows to words.
template <std::size_t Count>
HWY_INLINE void transpose_rows(word_vector* rows) {
  static_assert(Count == 4);
  transpose_4x4(rows[0], rows[1], rows[2], rows[3]);
}

#if HWY_TARGET == HWY_AVX3
/// Loads 32 bytes of each string: rows 0 to 3 have those of strings 0 to 7. This takes fewer instructions, and fewer
/// accesses to a cache line, than 16 bytes at a time: SHA-1 takes 0.96 to 0.99 of the time, BLAKE3 0.98 to 0.99, and
/// SHA-256 1.01. With 64 bytes at a time SHA-1 takes 1.13 (Emerald Rapids).
template <>
HWY_INLINE void load_rows<8>(const std::uint8_t* const* strings, std::size_t offset, word_vector* rows) {
  const auto quarter = [&](std::size_t string) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(strings[string] + offset));
  };
  for (std::size_t row = 0; row < 8; ++row) {
    const std::size_t string = row + row / 4 * 4;
    rows[row] = word_vector{_mm512_inserti64x4(_mm512_castsi256_si512(quarter(string)), quarter(string + 4), 1)};
  }
}

template <>
HWY_INLINE void transpose_rows<8>(word_vector* rows) {
  transpose_rows<4>(rows);
  transpose_rows<4>(rows + 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto low = rows[i].raw;
    const auto high = rows[4 + i].raw;
    rows[i] = word_vector{_mm512_shuffle_i32x4(low, high, 0x88)};
    rows[4 + i] = word_vector{_mm512_shuffle_i32x4(low, high, 0xDD)};
  }
}
inline constexpr std::size_t most_rows = 8;
#else
inline constexpr std::size_t most_rows = 4;
#endif

template <class Tag>
HWY_INLINE void store_row([[maybe_unused]] Tag tag, hn::Vec<Tag> row, std::uint8_t* const* strings,
                          std::size_t offset) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    const hn::Repartition<std::uint8_t, Tag> bytes_of_row;
    hn::StoreU(hn::BitCast(bytes_of_row, row), bytes_of_row, strings[0] + offset);
  } else {
    const hn::Half<Tag> half;
    store_row(half, hn::LowerHalf(half, row), strings, offset);
    store_row(half, hn::UpperHalf(half, row), strings + hn::MaxLanes(half), offset);
  }
}

/// Loads the first `Count` words from `offset` on of `word_lanes` strings.
template <std::size_t Count>
HWY_INLINE void load_words(const std::uint8_t* const* strings, std::size_t offset, word_vector (&words)[Count]) {
  static_assert(Count % most_rows == 0);
  for (std::size_t i = 0; i < Count; i += most_rows) {
    load_rows<most_rows>(strings, offset + 4 * i, words + i);
    transpose_rows<most_rows>(words + i);
  }
}

template <std::size_t Count>
HWY_INLINE void store_words(const word_vector (&words)[Count], std::uint8_t* const* strings) {
  static_assert(Count % 4 == 0);
  for (std::size_t i = 0; i < Count; i += 4) {
    word_vector rows[4] = {words[i], words[i + 1], words[i + 2], words[i + 3]};
    transpose_4x4(rows[0], rows[1], rows[2], rows[3]);
    for (std::size_t row = 0; row < 4; ++row) store_row(words_d, rows[row], strings + row, 4 * i);
  }
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
