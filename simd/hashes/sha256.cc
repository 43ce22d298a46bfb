// The vector kernel of SHA-256 (FIPS 180-4), with one message in each vector lane.
#include <utility>

#include "host/hash/sha_constants.h"
#include "simd/dispatch/dispatch.h"
#include "simd/hashes/fingerprints.h"
#include "simd/hashes/lane_scheduler.h"
#include "simd/hashes/sha256_constants.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/hashes/sha256.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/hashes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

struct sha256 {
  static constexpr std::size_t state_words = 8;
  static constexpr const auto& start = sha256_start;

  /// Runs sixteen rounds in each iteration of a loop. All 64 unrolled do not fit into the processor's cache of decoded
  /// instructions, and decoding takes longer than hashing (Zen 3: 1.3 times as long with AVX2, 1.5 times with SSE4).
  static HWY_INLINE void all_rounds(words (&s)[state_words], words (&w)[block_words], const message_block& block) {
    constexpr auto sixteen = std::make_index_sequence<block_words>();
    const std::uint32_t* constants = sha256_constants.data();
    // Hides the constants from the compiler, which would otherwise make them with instructions that compete with the
    // rounds.
    asm("" : "+r"(constants));
    first_rounds(s, w, block, constants, sixteen);
    for (std::size_t t = block_words; t < sha256_rounds; t += block_words) {
      further_rounds(s, w, constants + sha256_copies * t, sixteen);
    }
  }

 private:
  template <std::size_t... T>
  static HWY_INLINE void first_rounds(words (&s)[state_words], words (&w)[block_words], const message_block& block,
                                      const std::uint32_t* constants, std::index_sequence<T...>) {
    ((block.load<4, T>(w), round<T>(s, w[T], constants)), ...);
  }

  template <std::size_t... T>
  static HWY_INLINE void further_rounds(words (&s)[state_words], words (&w)[block_words],
                                        const std::uint32_t* constants, std::index_sequence<T...>) {
    ((extend<T>(w), round<T>(s, w[T], constants)), ...);
  }

  /// Registers exchange roles and not contents: a of round T is s[-T mod 8]. A round takes e of the next from d and all
  /// summands of FIPS 180-4, and h from that e. This is one addition more, but the rotations of e are added last.
  template <std::size_t T>
  static HWY_INLINE void round(words (&s)[state_words], words word, const std::uint32_t* constants) {
    constexpr std::size_t first = state_words - T % state_words;
    const words a = s[first % state_words];
    const words b = s[(first + 1) % state_words];
    const words c = s[(first + 2) % state_words];
    words& d = s[(first + 3) % state_words];
    const words e = s[(first + 4) % state_words];
    const words f = s[(first + 5) % state_words];
    const words g = s[(first + 6) % state_words];
    words& h = s[(first + 7) % state_words];
    h = hn::Add(h, hn::Add(word, constant(constants + sha256_copies * T)));
    words next_e = in_order(hn::Add(d, h));
    next_e = in_order(hn::Add(next_e, choose(e, f, g)));
    next_e = hn::Add(next_e, three_rotations<6, 11, 25>(e));
    h = in_order(hn::Sub(next_e, d));
    h = in_order(hn::Add(h, majority(a, b, c)));
    h = hn::Add(h, three_rotations<2, 13, 22>(a));
    d = next_e;
  }

  static HWY_INLINE words constant(const std::uint32_t* copies) {
    if constexpr (message_lanes == sha256_copies) {
      return hn::Load(words_d, copies);  // aligned: SSE adds it from memory
    } else {
      return hn::LoadDup128(words_d, copies);
    }
  }

  /// Replaces w[T] by the word of the message schedule sixteen later.
  template <std::size_t T>
  static HWY_INLINE void extend(words (&w)[block_words]) {
    const words near = w[(T + 14) % block_words];
    const words far = w[(T + 1) % block_words];
    w[T] = hn::Add(w[T], w[(T + 9) % block_words]);
    w[T] = hn::Add(w[T], rotations_and_shift<7, 18, 3>(far));
    w[T] = hn::Add(w[T], rotations_and_shift<17, 19, 10>(near));
  }

#if HWY_TARGET == HWY_AVX3
  template <int A, int B, int C>
  static HWY_INLINE words three_rotations(words x) {
    return parity(hn::RotateRight<A>(x), hn::RotateRight<B>(x), hn::RotateRight<C>(x));
  }
  template <int A, int B, int Shift>
  static HWY_INLINE words rotations_and_shift(words x) {
    return parity(hn::RotateRight<A>(x), hn::RotateRight<B>(x), hn::ShiftRight<Shift>(x));
  }
  static HWY_INLINE words majority(words a, words b, words c) { return ternary<0xE8>(a, b, c); }
#else
  /// Without an instruction that rotates, all right shifts form one chain and all left shifts another. This copies
  /// fewer registers than one rotation after the other.
  template <int A, int B, int C>
  static HWY_INLINE words three_rotations(words x) {
    const words right = hn::ShiftRight<A>(hn::Xor(x, hn::ShiftRight<B - A>(hn::Xor(x, hn::ShiftRight<C - B>(x)))));
    const words left = hn::ShiftLeft<32 - C>(hn::Xor(x, hn::ShiftLeft<C - B>(hn::Xor(x, hn::ShiftLeft<B - A>(x)))));
    return hn::Xor(right, left);
  }
  template <int A, int B, int Shift>
  static HWY_INLINE words rotations_and_shift(words x) {
    const words right =
        hn::ShiftRight<Shift>(hn::Xor(x, hn::ShiftRight<A - Shift>(hn::Xor(x, hn::ShiftRight<B - A>(x)))));
    const words left = hn::ShiftLeft<32 - B>(hn::Xor(x, hn::ShiftLeft<B - A>(x)));
    return hn::Xor(right, left);
  }
  static HWY_INLINE words majority(words a, words b, words c) {
    return hn::Xor(b, hn::And(hn::Xor(a, b), hn::Xor(b, c)));  // b ^ c is a ^ b of the round before, computed once
  }
#endif
};

void hash_sha256_blocks(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                        std::uint32_t beginning) {
  hash_blocks<sha256>(state, messages, count, beginning);
}

std::unique_ptr<batch_fingerprinter> make_sha256() {
  return make_lane_fingerprinter({.kind = fingerprint_kind::sha256,
                                  .state_words = sha256::state_words,
                                  .lanes = message_lanes,
                                  .hash_blocks = hash_sha256_blocks});
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

std::unique_ptr<batch_fingerprinter> make_sha256_fingerprinter(instruction_set set) {
  if (set == instruction_set::sha_ni) return make_sha256_by_extensions();
  return make_by(CUTPOINT_KERNELS(make_sha256), set);
}

}  // namespace cutpoint::simd
#endif
