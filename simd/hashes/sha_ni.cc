// The kernels of SHA-1 and SHA-256 (FIPS 180-4) by the SHA extensions of x86. A round has to wait for the round before,
// which takes longer than to begin one, so several messages are hashed side by side.
#include <array>
#include <utility>

#include "host/hash/sha_constants.h"
#include "simd/hashes/fingerprints.h"
#include "simd/hashes/lane_scheduler.h"

#if defined(__x86_64__)
#include <hwy/base.h>
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("sse4.2,sha")
namespace cutpoint::simd {

namespace {

constexpr std::size_t block_bytes = 64;

using four_words = __m128i;
constexpr std::size_t schedule = 4;  ///< vectors of the message schedule that are in use

HWY_INLINE four_words load_reversed(const std::uint8_t* bytes, four_words order) {
  return _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const four_words*>(bytes)), order);
}

/// The first word of each vector is the last of the four, as the instructions want it.
struct sha1 {
  static constexpr auto kind = fingerprint_kind::sha1;
  static constexpr const auto& start = sha1_start;
  static constexpr std::size_t steps = 20;  ///< of four rounds each
  static constexpr std::size_t lanes = 3;   ///< on a Zen 3, with 1, 2, 3 and 4: 1.56, 2.75, 3.25, 2.67 GiB/s
  static constexpr double time_alone = 0.7;

  struct state {
    four_words abcd;
    four_words e;  ///< e; within a block, the value of abcd a step ago, of which the next e is made
  };

  using words = std::array<int, start.size()>;
  static HWY_INLINE state load(const words& w) {
    return {_mm_set_epi32(w[0], w[1], w[2], w[3]), _mm_set_epi32(w[4], 0, 0, 0)};
  }
  static HWY_INLINE words store(const state& s) {
    return {_mm_extract_epi32(s.abcd, 3), _mm_extract_epi32(s.abcd, 2), _mm_extract_epi32(s.abcd, 1),
            _mm_extract_epi32(s.abcd, 0), _mm_extract_epi32(s.e, 3)};
  }

  template <std::size_t Step>
  static HWY_INLINE void step(state& s, four_words (&w)[schedule], const std::uint8_t* block) {
    four_words& word = w[Step % schedule];
    if constexpr (Step < schedule) {
      word = load_reversed(block + sizeof(four_words) * Step, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
    } else {
      const four_words mixed =
          _mm_xor_si128(_mm_sha1msg1_epu32(word, w[(Step + 1) % schedule]), w[(Step + 2) % schedule]);
      word = _mm_sha1msg2_epu32(mixed, w[(Step + 3) % schedule]);
    }
    const four_words e_and_word = Step == 0 ? _mm_add_epi32(s.e, word) : _mm_sha1nexte_epu32(s.e, word);
    s.e = s.abcd;
    s.abcd = _mm_sha1rnds4_epu32(s.abcd, e_and_word, Step / 5);
  }

  static HWY_INLINE void add(state& s, const state& before) {
    s.abcd = _mm_add_epi32(s.abcd, before.abcd);
    s.e = _mm_sha1nexte_epu32(s.e, before.e);
  }
};

struct sha256 {
  static constexpr auto kind = fingerprint_kind::sha256;
  static constexpr const auto& start = sha256_start;
  static constexpr std::size_t steps = 16;  ///< of four rounds each
  static constexpr std::size_t lanes = 4;   ///< on a Zen 3, with 1, 2, 3 and 4: 1.47, 2.82, 2.97, 3.07 GiB/s
  static constexpr double time_alone = 0.5;

  struct state {
    four_words abef;
    four_words cdgh;
  };

  using words = std::array<int, start.size()>;
  static HWY_INLINE state load(const words& w) {
    return {_mm_set_epi32(w[0], w[1], w[4], w[5]), _mm_set_epi32(w[2], w[3], w[6], w[7])};
  }
  static HWY_INLINE words store(const state& s) {
    return {_mm_extract_epi32(s.abef, 3), _mm_extract_epi32(s.abef, 2), _mm_extract_epi32(s.cdgh, 3),
            _mm_extract_epi32(s.cdgh, 2), _mm_extract_epi32(s.abef, 1), _mm_extract_epi32(s.abef, 0),
            _mm_extract_epi32(s.cdgh, 1), _mm_extract_epi32(s.cdgh, 0)};
  }

  template <std::size_t Step>
  static HWY_INLINE void step(state& s, four_words (&w)[schedule], const std::uint8_t* block) {
    four_words& word = w[Step % schedule];
    if constexpr (Step < schedule) {
      word = load_reversed(block + sizeof(four_words) * Step, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
    } else {
      const four_words last = w[(Step + 3) % schedule];
      const four_words mixed = _mm_add_epi32(_mm_sha256msg1_epu32(word, w[(Step + 1) % schedule]),
                                             _mm_alignr_epi8(last, w[(Step + 2) % schedule], 4));
      word = _mm_sha256msg2_epu32(mixed, last);
    }
    const auto* constants = reinterpret_cast<const four_words*>(&sha256_cube_roots[4 * Step]);
    const four_words sums = _mm_add_epi32(word, _mm_loadu_si128(constants));
    s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, sums);
    s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_unpackhi_epi64(sums, sums));
  }

  static HWY_INLINE void add(state& s, const state& before) {
    s.abef = _mm_add_epi32(s.abef, before.abef);
    s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
  }
};

template <class Hash>
struct block_set {
  const std::uint8_t* bytes[Hash::lanes];
  four_words schedules[Hash::lanes][schedule];

  template <std::size_t Step>
  HWY_INLINE void step(typename Hash::state* s) {
    for (std::size_t r = 0; r < Hash::lanes; ++r) Hash::template step<Step>(s[r], schedules[r], bytes[r]);
  }
  template <std::size_t... Step>
  HWY_INLINE void all_steps(typename Hash::state* s, std::index_sequence<Step...>) {
    (step<Step>(s), ...);
  }
};

/// Implements `lane_hash::hash_blocks`.
template <class Hash>
void hash_blocks(std::uint32_t* words, const std::uint8_t* const* messages, std::size_t count,
                 std::uint32_t beginning) {
  constexpr std::size_t lanes = Hash::lanes;
  typename Hash::state s[lanes];
  for (std::size_t r = 0; r < lanes; ++r) {
    const bool begins = (beginning >> r & 1) != 0;
    typename Hash::words w;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int>(begins ? Hash::start[i] : words[i * lanes + r]);
    s[r] = Hash::load(w);
  }
  for (std::size_t offset = 0; offset < count * block_bytes; offset += block_bytes) {
    block_set<Hash> blocks;
    typename Hash::state before[lanes];
    for (std::size_t r = 0; r < lanes; ++r) {
      blocks.bytes[r] = messages[r] + offset;
      before[r] = s[r];
      _mm_prefetch(reinterpret_cast<const char*>(blocks.bytes[r] + prefetch_distance), _MM_HINT_T0);
    }
    blocks.all_steps(s, std::make_index_sequence<Hash::steps>());
    for (std::size_t r = 0; r < lanes; ++r) Hash::add(s[r], before[r]);
  }
  for (std::size_t r = 0; r < lanes; ++r) {
    const typename Hash::words w = Hash::store(s[r]);
    for (std::size_t i = 0; i < w.size(); ++i) words[i * lanes + r] = static_cast<std::uint32_t>(w[i]);
  }
}

template <class Hash>
std::unique_ptr<batch_fingerprinter> make() {
  return make_lane_fingerprinter({.kind = Hash::kind,
                                  .state_words = Hash::start.size(),
                                  .lanes = Hash::lanes,
                                  .time_alone = Hash::time_alone,
                                  .hash_blocks = hash_blocks<Hash>});
}

}  // namespace

std::unique_ptr<batch_fingerprinter> make_sha1_by_extensions() { return make<sha1>(); }
std::unique_ptr<batch_fingerprinter> make_sha256_by_extensions() { return make<sha256>(); }

}  // namespace cutpoint::simd
HWY_POP_ATTRIBUTES

#else

namespace cutpoint::simd {
std::unique_ptr<batch_fingerprinter> make_sha1_by_extensions() { return nullptr; }
std::unique_ptr<batch_fingerprinter> make_sha256_by_extensions() { return nullptr; }
}  // namespace cutpoint::simd

#endif
