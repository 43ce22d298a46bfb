// SHA-256 (FIPS 180-4) of as many messages as a vector has lanes.
#include "simd/dispatch.h"
#include "simd/fingerprints.h"
#include "simd/lane_scheduler.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/sha256.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#include "simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

struct sha256 {
  static constexpr std::size_t state_words = 8;
  static constexpr std::size_t rounds = 64;

  /// Registers change roles instead of contents: a of round T is s[-T mod 8].
  template <std::size_t T>
  static HWY_INLINE void round(words (&s)[state_words], words (&w)[block_words]) {
    constexpr std::size_t from = state_words - T % state_words;
    const words a = s[from % state_words];
    const words b = s[(from + 1) % state_words];
    const words c = s[(from + 2) % state_words];
    words& d = s[(from + 3) % state_words];
    const words e = s[(from + 4) % state_words];
    const words f = s[(from + 5) % state_words];
    const words g = s[(from + 6) % state_words];
    words& h = s[(from + 7) % state_words];
    h = hn::Add(h, hn::Add(word<T>(w), hn::Set(words_d, constants[T])));
    h = hn::Add(h, choose(e, f, g));
    h = hn::Add(h, parity(hn::RotateRight<6>(e), hn::RotateRight<11>(e), hn::RotateRight<25>(e)));
    d = hn::Add(d, h);
    h = hn::Add(h, majority(a, b, c));
    h = hn::Add(h, parity(hn::RotateRight<2>(a), hn::RotateRight<13>(a), hn::RotateRight<22>(a)));
  }

 private:
  /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
  static constexpr std::uint32_t constants[rounds] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  /// Word T of the schedule, which takes the place of word T - 16.
  template <std::size_t T>
  static HWY_INLINE words word(words (&w)[block_words]) {
    words& x = w[T % block_words];
    if constexpr (T >= block_words) {
      const words y = w[(T - 15) % block_words];
      const words z = w[(T - 2) % block_words];
      x = hn::Add(x, w[(T - 7) % block_words]);
      x = hn::Add(x, parity(hn::RotateRight<7>(y), hn::RotateRight<18>(y), hn::ShiftRight<3>(y)));
      x = hn::Add(x, parity(hn::RotateRight<17>(z), hn::RotateRight<19>(z), hn::ShiftRight<10>(z)));
    }
    return x;
  }

  static HWY_INLINE words majority(words a, words b, words c) {
#if HWY_TARGET == HWY_AVX3
    return ternary<0xE8>(a, b, c);
#else
    return hn::Xor(b, hn::And(hn::Xor(a, b), hn::Xor(b, c)));  // the last is the next round's a ^ b, made once
#endif
  }
};

void hash_sha256_blocks(std::uint32_t* state, const std::uint8_t* const* messages, std::size_t count) {
  hash_blocks<sha256>(state, messages, count);
}

std::unique_ptr<fingerprint_batch> make_sha256() {
  return make_lane_batch(
      {.kind = fingerprint_kind::sha256,
       .state_words = sha256::state_words,
       .start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
       .lanes = message_lanes,
       .hash_blocks = hash_sha256_blocks});
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

std::unique_ptr<fingerprint_batch> make_sha256_batch(instruction_set set) {
  return make_by(CUTPOINT_KERNELS(make_sha256), set);
}

}  // namespace cutpoint::simd
#endif
