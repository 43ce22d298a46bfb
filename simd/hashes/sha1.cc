// The vector kernel of SHA-1 (FIPS 180-4), with one message in each vector lane.
#include <utility>

#include "host/hash/sha_constants.h"
#include "simd/dispatch/dispatch.h"
#include "simd/hashes/fingerprints.h"
#include "simd/hashes/lane_scheduler.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/hashes/sha1.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if CUTPOINT_HAS_VECTORS
#include "simd/hashes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

struct sha1 {
  static constexpr std::size_t state_words = 5;
  static constexpr std::size_t rounds = 80;
  static constexpr const auto& start = sha1_start;

  static HWY_INLINE void all_rounds(words (&s)[state_words], words (&w)[block_words], const message_block& block) {
    rounds_of(s, w, block, std::make_index_sequence<rounds>());
  }

 private:
  template <std::size_t... T>
  static HWY_INLINE void rounds_of(words (&s)[state_words], words (&w)[block_words], const message_block& block,
                                   std::index_sequence<T...>) {
    ((block.load<most_rows, T>(w), round<T>(s, w)), ...);
  }

  /// Registers exchange roles and not contents: a of round T is s[-T mod 5].
  template <std::size_t T>
  static HWY_INLINE void round(words (&s)[state_words], words (&w)[block_words]) {
    constexpr std::size_t first = state_words - T % state_words;
    const words a = s[first % state_words];
    words& b = s[(first + 1) % state_words];
    const words c = s[(first + 2) % state_words];
    const words d = s[(first + 3) % state_words];
    words& e = s[(first + 4) % state_words];
    e = hn::Add(e, hn::Add(word<T>(w), hn::Set(words_d, sha1_constants[T / 20])));
    e = in_order(add_function<T>(e, b, c, d));
    e = hn::Add(e, hn::RotateRight<27>(a));
    b = hn::RotateRight<2>(b);
  }

  /// Returns word T of the message schedule, which replaces word T - 16.
  template <std::size_t T>
  static HWY_INLINE words word(words (&w)[block_words]) {
    words& x = w[T % block_words];
    if constexpr (T >= block_words) {
      x = hn::Xor(parity(w[(T - 3) % block_words], w[(T - 8) % block_words], w[(T - 14) % block_words]), x);
      x = rotate_left_1(x);
    }
    return x;
  }

  static HWY_INLINE words rotate_left_1(words x) {
#if HWY_TARGET == HWY_AVX3
    return hn::RotateRight<31>(x);
#else
    return hn::Or(hn::Add(x, x), hn::ShiftRight<31>(x));                   // more ports add than shift
#endif
  }

  template <std::size_t T>
  static HWY_INLINE words add_function(words e, words b, words c, words d) {
    if constexpr (T < 20) return hn::Add(e, choose(b, c, d));
    if constexpr (T < 40 || T >= 60) return hn::Add(e, parity(b, c, d));
#if HWY_TARGET == HWY_AVX3
    return hn::Add(e, ternary<0xE8>(b, c, d));
#else
    return hn::Add(hn::Add(e, hn::And(c, d)), hn::And(b, hn::Xor(c, d)));  // the majority, as a sum
#endif
  }
};

void hash_sha1_blocks(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count,
                      std::uint32_t beginning) {
  hash_blocks<sha1>(state, messages, count, beginning);
}

std::unique_ptr<batch_fingerprinter> make_sha1() {
  return make_lane_fingerprinter({.kind = fingerprint_kind::sha1,
                                  .state_words = sha1::state_words,
                                  .lanes = message_lanes,
                                  .hash_blocks = hash_sha1_blocks});
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

std::unique_ptr<batch_fingerprinter> make_sha1_fingerprinter(instruction_set set) {
  if (set == instruction_set::sha_ni) return make_sha1_by_extensions();
  return make_by(CUTPOINT_KERNELS(make_sha1), set);
}

}  // namespace cutpoint::simd
#endif
