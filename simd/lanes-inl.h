// What the hashes of SHA's family share: words of one message in each lane, and the walk over blocks of all messages.

#if defined(CUTPOINT_SIMD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUTPOINT_SIMD_LANES_INL_H_
#undef CUTPOINT_SIMD_LANES_INL_H_
#else
#define CUTPOINT_SIMD_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "simd/lane_scheduler.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using word_tag = hn::ScalableTag<std::uint32_t>;
using words = hn::Vec<word_tag>;  ///< one word of each message
inline constexpr word_tag words_d = {};
inline constexpr std::size_t message_lanes = hn::MaxLanes(word_tag());

inline constexpr std::size_t block_bytes = 64;
inline constexpr std::size_t block_words = 16;

#if HWY_TARGET == HWY_AVX3
/// Any function of three bits: bit 4a + 2b + c of `Truth` is its value.
template <int Truth>
HWY_INLINE words ternary(words a, words b, words c) {
  return words{_mm512_ternarylogic_epi32(a.raw, b.raw, c.raw, Truth)};
}
/// The bits of `yes` where `mask` has ones, those of `no` elsewhere.
HWY_INLINE words choose(words mask, words yes, words no) { return ternary<0xCA>(mask, yes, no); }
HWY_INLINE words parity(words a, words b, words c) { return ternary<0x96>(a, b, c); }
#else
HWY_INLINE words choose(words mask, words yes, words no) { return hn::Xor(no, hn::And(mask, hn::Xor(yes, no))); }
HWY_INLINE words parity(words a, words b, words c) { return hn::Xor(hn::Xor(a, b), c); }
#endif

/// 16 bytes of messages 0, 4, 8, ..., one message in each 128-bit block.
#if HWY_TARGET == HWY_AVX3
template <class ByteTag>
HWY_INLINE hn::Vec<ByteTag> load_quarter(ByteTag, const std::uint8_t* const* messages, std::size_t at) {
  const auto of = [&](std::size_t r)
                      HWY_ATTR { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(messages[r] + at)); };
  __m512i v = _mm512_castsi128_si512(of(0));
  v = _mm512_inserti32x4(v, of(4), 1);
  v = _mm512_inserti32x4(v, of(8), 2);
  return hn::Vec<ByteTag>{_mm512_inserti32x4(v, of(12), 3)};
}
#else
template <class ByteTag>
HWY_INLINE hn::Vec<ByteTag> load_quarter(ByteTag d, const std::uint8_t* const* messages, std::size_t at) {
  if constexpr (message_lanes == 4) {
    return hn::LoadU(d, messages[0] + at);
  } else {
    constexpr hn::Half<ByteTag> half;
    return hn::Combine(d, hn::LoadU(half, messages[4] + at), hn::LoadU(half, messages[0] + at));
  }
}
#endif

/// Words 0 to 3 of the 16 bytes at `at` of each message, which has the highest byte of a word first.
///
///     a: a0 a1 a2 a3 | e0 ..      a0 b0 a1 b1      a0 b0 c0 d0 | e0 f0 g0 h0 | ..
///     b: b0 b1 b2 b3 | f0 ..  ->  c0 d0 c1 d1  ->  a1 b1 c1 d1 | ..
///     c: ..                       a2 b2 a3 b3      ..
///     d: ..                       c2 d2 c3 d3      a3 b3 c3 d3 | ..
HWY_INLINE void load_words(const std::uint8_t* const* messages, std::size_t at, words* to) {
  constexpr hn::Repartition<std::uint8_t, word_tag> bytes_d;
  constexpr hn::Repartition<std::uint64_t, word_tag> pairs_d;
  alignas(16) constexpr std::uint8_t reversed[16] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
  const auto order = hn::LoadDup128(bytes_d, reversed);
  const auto quarter = [&](std::size_t r) HWY_ATTR {
    return hn::BitCast(words_d, hn::TableLookupBytes(load_quarter(bytes_d, messages + r, at), order));
  };
  const words a = quarter(0);
  const words b = quarter(1);
  const words c = quarter(2);
  const words d = quarter(3);
  const auto ab_low = hn::BitCast(pairs_d, hn::InterleaveLower(words_d, a, b));
  const auto cd_low = hn::BitCast(pairs_d, hn::InterleaveLower(words_d, c, d));
  const auto ab_high = hn::BitCast(pairs_d, hn::InterleaveUpper(words_d, a, b));
  const auto cd_high = hn::BitCast(pairs_d, hn::InterleaveUpper(words_d, c, d));
  to[0] = hn::BitCast(words_d, hn::InterleaveLower(pairs_d, ab_low, cd_low));
  to[1] = hn::BitCast(words_d, hn::InterleaveUpper(pairs_d, ab_low, cd_low));
  to[2] = hn::BitCast(words_d, hn::InterleaveLower(pairs_d, ab_high, cd_high));
  to[3] = hn::BitCast(words_d, hn::InterleaveUpper(pairs_d, ab_high, cd_high));
}

/// One block of each message.
struct message_block {
  const std::uint8_t* const* messages;
  std::size_t at;

  /// Loads words T to T + 3 for a T that needs them: just before the rounds do, which leaves these more registers.
  template <std::size_t T>
  HWY_INLINE void load(words (&w)[block_words]) const {
    if constexpr (T < block_words && T % 4 == 0) load_words(messages, at + 4 * T, w + T);
  }
};

/// As `lane_hash::hash_blocks`.
template <class Hash>
HWY_INLINE void hash_blocks(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                            std::uint32_t beginning) {
  const words bit = hn::Shl(hn::Set(words_d, 1), hn::Iota(words_d, 0));
  const auto begins = hn::TestBit(hn::Set(words_d, beginning), bit);
  words h[Hash::state_words];
  for (std::size_t i = 0; i < Hash::state_words; ++i) {
    h[i] = hn::IfThenElse(begins, hn::Set(words_d, Hash::start[i]), hn::Load(words_d, state + i * message_lanes));
  }
  for (std::size_t at = 0; at < count * block_bytes; at += block_bytes) {
    for (std::size_t r = 0; r < message_lanes; ++r) hwy::Prefetch(messages[r] + at + prefetched_ahead);
    words s[Hash::state_words];
    for (std::size_t i = 0; i < Hash::state_words; ++i) s[i] = h[i];
    words w[block_words];
    Hash::all_rounds(s, w, message_block{messages, at});
    for (std::size_t i = 0; i < Hash::state_words; ++i) h[i] = hn::Add(h[i], s[i]);
  }
  for (std::size_t i = 0; i < Hash::state_words; ++i) hn::Store(h[i], words_d, state + i * message_lanes);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
