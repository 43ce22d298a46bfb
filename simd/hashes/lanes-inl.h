// Functions that SHA-1 and SHA-256 share: words with one message in each vector lane, and the loop over the blocks of
// all messages.

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

#include "simd/hashes/lane_scheduler.h"
#include "simd/hashes/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using words = word_vector;  ///< one word of each message
inline constexpr std::size_t message_lanes = word_lanes;

inline constexpr std::size_t block_bytes = 64;
inline constexpr std::size_t block_words = 16;

#if HWY_TARGET == HWY_AVX3
/// Computes any function of three bits, whose value for bits a, b and c is bit 4a + 2b + c of `Truth`.
template <int Truth>
HWY_INLINE words ternary(words a, words b, words c) {
  return words{_mm512_ternarylogic_epi32(a.raw, b.raw, c.raw, Truth)};
}
/// Returns the bits of `yes` where `mask` has ones, and those of `no` elsewhere.
HWY_INLINE words choose(words mask, words yes, words no) { return ternary<0xCA>(mask, yes, no); }
HWY_INLINE words parity(words a, words b, words c) { return ternary<0x96>(a, b, c); }
#else
HWY_INLINE words choose(words mask, words yes, words no) { return hn::Xor(no, hn::And(mask, hn::Xor(yes, no))); }
HWY_INLINE words parity(words a, words b, words c) { return hn::Xor(hn::Xor(a, b), c); }
#endif

/// Hides from the compiler how `x` is computed, so that it does not reorder the sum that `x` is part of. A round adds
/// the operand that is ready last at the end, because hashes are bound by the latency of that chain where each vector
/// instruction takes two cycles (Zen 5).
HWY_INLINE words in_order(words x) {
#if HWY_ARCH_X86
  asm("" : "+v"(x.raw));
#else
  asm("" : "+w"(x.raw));
#endif
  return x;
}

/// Loads `Count` big-endian words from `offset` on of each message.
template <std::size_t Count>
HWY_INLINE void load_big_endian(const std::uint8_t* const* messages, std::size_t offset, words* loaded) {
  constexpr hn::Repartition<std::uint8_t, word_tag> bytes_of_words;
  alignas(16) constexpr std::uint8_t reversed[16] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
  const auto order = hn::LoadDup128(bytes_of_words, reversed);
  load_rows<Count>(messages, offset, loaded);
  for (std::size_t i = 0; i < Count; ++i) {
    loaded[i] = hn::BitCast(words_d, hn::TableLookupBytes(hn::BitCast(bytes_of_words, loaded[i]), order));
  }
  transpose_rows<Count>(loaded);
}

struct message_block {
  const std::uint8_t* const* messages;
  std::size_t offset;

  /// Loads words T to T + Count - 1 if T is a multiple of Count, just before the rounds use them. This leaves more
  /// registers to the rounds.
  template <std::size_t Count, std::size_t T>
  HWY_INLINE void load(words (&w)[block_words]) const {
    if constexpr (T < block_words && T % Count == 0) load_big_endian<Count>(messages, offset + 4 * T, w + T);
  }
};

/// Implements `lane_hash::hash_blocks`.
template <class Hash>
HWY_INLINE void hash_blocks(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                            std::uint32_t beginning) {
  const words bit = hn::Shl(hn::Set(words_d, 1), hn::Iota(words_d, 0));
  const auto begins = hn::TestBit(hn::Set(words_d, beginning), bit);
  words h[Hash::state_words];
  for (std::size_t i = 0; i < Hash::state_words; ++i) {
    h[i] = hn::IfThenElse(begins, hn::Set(words_d, Hash::start[i]), hn::Load(words_d, state + i * message_lanes));
  }
  for (std::size_t offset = 0; offset < count * block_bytes; offset += block_bytes) {
    for (std::size_t r = 0; r < message_lanes; ++r) hwy::Prefetch(messages[r] + offset + prefetch_distance);
    words s[Hash::state_words];
    for (std::size_t i = 0; i < Hash::state_words; ++i) s[i] = h[i];
    words w[block_words];
    Hash::all_rounds(s, w, message_block{messages, offset});
    for (std::size_t i = 0; i < Hash::state_words; ++i) h[i] = hn::Add(h[i], s[i]);
  }
  for (std::size_t i = 0; i < Hash::state_words; ++i) hn::Store(h[i], words_d, state + i * message_lanes);
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
