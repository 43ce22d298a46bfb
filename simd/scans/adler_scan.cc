// Scans with the rolling Adler-32 sum: 64 lanes of 16 bits in two vectors. The low bits of sums depend only on low bits.
// They are shifted to the top, where the test compares a whole word.
#include "simd/scans/adler_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "simd/dispatch/avx512_dl.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/byte_columns.h"
#include "simd/scans/lane_scanner.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/adler_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd::avx512_dl {

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/column_ring-inl.h"
#include "simd/scans/column_scan-inl.h"

/// Keeps the words of the bytes in the window, to subtract them again.
class adler_lanes {
 public:
  static constexpr rolling_direction direction = rolling_direction::forward;
  static constexpr double loop_speedup = 3;
  /// Vector k has lanes 8 k to 8 k + 7 of each 16. The second sums are one more than the definition's, so that zeros
  /// are accepted.
  struct state {
    __m512i s1[2], s2[2];
  };

  adler_lanes(const adler_hash& hash, const masked_test& test)
      : hash_(hash), shift_(std::max(0, 16 - std::popcount(test.mask))) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t word = adler_hash::absorb({}, static_cast<std::uint8_t>(byte)).s1 << shift_;
      table_[0].bytes[byte] = static_cast<std::uint8_t>(word);
      table_[1].bytes[byte] = static_cast<std::uint8_t>(word >> 8);
    }
  }
  [[nodiscard]] std::uint64_t window() const { return hash_.window(); }

  class steps {
   public:
    HWY_INLINE explicit steps(const adler_lanes& hash)
        : low_(loaded_byte_table(hash.table_[0]).pinned()),
          high_(loaded_byte_table(hash.table_[1]).pinned()),
          window_(static_cast<std::int64_t>(hash.window())),
          one_(_mm512_set1_epi16(static_cast<short>(1 << hash.shift_))),
          slots_(static_cast<std::int64_t>(std::bit_ceil(hash.window()))) {
      std::memset(words_, 0, static_cast<std::size_t>(slots_) * sizeof(words_[0]));
    }
    HWY_INLINE state begin() const { return {.s1 = {}, .s2 = {one_, one_}}; }
    HWY_INLINE void roll(state& hash, std::int64_t offset, byte_vector newest, byte_vector) {
      const __mmask64 upper = _mm512_movepi8_mask(newest.raw);
      const __m512i low = low_(newest.raw, upper), high = high_(newest.raw, upper);
      const __m512i incoming[2] = {_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)};
      const __m512i window = _mm512_set1_epi16(static_cast<short>(window_));
      const __m512i* const oldest = words_[(offset - window_) & (slots_ - 1)];
      __m512i* const slot = words_[offset & (slots_ - 1)];
      HWY_UNROLL(2)
      for (std::size_t k = 0; k < 2; ++k) {
        const __m512i outgoing = _mm512_load_si512(oldest + k);
        _mm512_store_si512(slot + k, incoming[k]);
        hash.s1[k] = _mm512_add_epi16(hash.s1[k], _mm512_sub_epi16(incoming[k], outgoing));
        const __m512i added = _mm512_sub_epi16(hash.s1[k], _mm512_mullo_epi16(outgoing, window));
        hash.s2[k] = _mm512_add_epi16(hash.s2[k], added);
      }
    }

   private:
    loaded_byte_table low_, high_;
    std::int64_t window_;
    __m512i one_;
    std::int64_t slots_;
    alignas(64) __m512i words_[std::bit_ceil(longest_window)][2];
  };

  HWY_INLINE __m512i least_of_none() const { return _mm512_set1_epi16(-1); }
  HWY_INLINE __m512i merge(__m512i least, const state& hash) const {
    return _mm512_min_epu16(least, _mm512_min_epu16(hash.s2[0], hash.s2[1]));
  }
  HWY_INLINE bool is_any_accepted(__m512i least) const { return _mm512_testn_epi16_mask(least, least) != 0; }
  HWY_INLINE std::uint64_t accepted(const state& hash) const {
    constexpr std::uint64_t lower = 0x00ff00ff00ff00ff;
    return _pdep_u64(_mm512_testn_epi16_mask(hash.s2[0], hash.s2[0]), lower) |
           _pdep_u64(_mm512_testn_epi16_mask(hash.s2[1], hash.s2[1]), ~lower);
  }
  HWY_INLINE std::uint64_t word(const state&, std::uint64_t, const std::uint8_t* last) const {
    return adler_hash::word(hash_.over(last - (hash_.window() - 1)));
  }

 private:
  adler_hash hash_;
  int shift_;
  byte_table table_[2];  ///< the lower and the upper bytes of the words
};

std::unique_ptr<const candidate_scanner> make_adler_scan(const adler_hash& hash, const masked_test& test) {
  return std::make_unique<column_scanner<adler_lanes>>(adler_lanes(hash, test), std::span(&test, 1));
}

}  // namespace cutpoint::simd::avx512_dl
CUTPOINT_AFTER_AVX512_DL;
#endif

#if HWY_ONCE
namespace cutpoint::simd {

std::unique_ptr<const candidate_scanner> make_adler_scanner(const adler_hash& hash, const masked_test& test,
                                                            instruction_set set) {
#if (HWY_TARGETS & HWY_AVX3) != 0
  constexpr int least_bits = 7;
  if (set == instruction_set::avx512_dl && hash.window() <= longest_window && std::popcount(test.mask) >= least_bits) {
    return avx512_dl::make_adler_scan(hash, test);
  }
#endif
  static_cast<void>(hash), static_cast<void>(test), static_cast<void>(set);
  return nullptr;
}

}  // namespace cutpoint::simd
#endif
