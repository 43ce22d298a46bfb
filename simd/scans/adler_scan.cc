// Scans with the rolling Adler-32 sum: 64 lanes of 16 bits in two vectors. The low bits of sums depend only on low bits.
// They are shifted to the top, where the test compares a whole word.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "simd/dispatch/dispatch.h"
#include "simd/scans/byte_columns.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/adler_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd::avx512_dl {

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/columns-inl.h"

/// Keeps prefix sums over all bytes of a lane. With P1[i] as the sum of all words up to byte i, and P2[i] as the sum of
/// P1 up to there, the second sum of a window is
///
///   P2[i] - (P2[i - window] + window * P1[i - window])
///
/// The term in brackets is kept for each byte in the window.
class adler_lanes {
 public:
  static constexpr rolling_direction direction = rolling_direction::forward;
  static constexpr double loop_speedup = 4;
  static constexpr std::uint64_t candidate_cost = 300;
  /// Vector k has lanes 8 k to 8 k + 7 of each 16. `p2` is one more than the definition's, so that it equals the term
  /// where the sum is all ones.
  struct state {
    __m512i p1[2], p2[2];
  };
  using history = step_history<2, longest_window>;
  /// The lanes of each vector without such a sum.
  struct filter {
    __mmask32 rejected[2];
    history::group terms;
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
    HWY_INLINE steps(const adler_lanes& hash, history& terms)
        : low_(loaded_byte_table(hash.table_[0]).pinned()),
          high_(loaded_byte_table(hash.table_[1]).pinned()),
          window_(_mm512_set1_epi16(static_cast<short>(hash.window()))),
          one_(_mm512_set1_epi16(static_cast<short>(1 << hash.shift_))),
          terms_(terms) {}
    HWY_INLINE state begin() const { return {.p1 = {}, .p2 = {one_, one_}}; }
    HWY_INLINE filter begin_group(state&) const {
      return {.rejected = {~__mmask32{0}, ~__mmask32{0}}, .terms = terms_.next_group()};
    }
    HWY_INLINE void roll(state& sums, filter& filtered, std::size_t step, byte_vector newest, byte_vector) const {
      const __mmask64 upper = _mm512_movepi8_mask(newest.raw);
      const __m512i low = low_(newest.raw, upper), high = high_(newest.raw, upper);
      const __m512i incoming[2] = {_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)};
      HWY_UNROLL(2)
      for (std::size_t k = 0; k < 2; ++k) {
        const __m512i oldest = _mm512_load_si512(filtered.terms.oldest[step] + k);
        sums.p1[k] = _mm512_add_epi16(sums.p1[k], incoming[k]);
        sums.p2[k] = _mm512_add_epi16(sums.p2[k], sums.p1[k]);
        filtered.rejected[k] = _mm512_mask_cmpneq_epi16_mask(filtered.rejected[k], sums.p2[k], oldest);
        const __m512i product = _mm512_mullo_epi16(sums.p1[k], window_);
        _mm512_store_si512(filtered.terms.newest[step] + k,
                           _mm512_add_epi16(_mm512_sub_epi16(sums.p2[k], one_), product));
      }
    }

   private:
    loaded_byte_table low_, high_;
    __m512i window_;
    __m512i one_;
    history& terms_;
  };

  HWY_INLINE bool is_any_accepted(const filter& filtered) const {
    return (filtered.rejected[0] & filtered.rejected[1]) != ~__mmask32{0};
  }
  HWY_INLINE std::uint64_t accepted(const filter& filtered) const {
    constexpr std::uint64_t lower = 0x00ff00ff00ff00ff;
    return _pdep_u64(~filtered.rejected[0], lower) | _pdep_u64(~filtered.rejected[1], ~lower);
  }
  void words(const state&, std::uint64_t, const lane_group& group, std::uint64_t* words) const {
    const std::uint8_t* const oldest = group.last - hash_.window();
    adler_hash::sums sums = hash_.over(oldest + 1);
    for (std::size_t i = 0; i < group_steps; ++i) {
      if (i != 0) sums = hash_.roll(sums, oldest[i], group.last[i]);
      words[i] = adler_hash::word(sums);
    }
  }

 private:
  adler_hash hash_;
  int shift_;
  byte_table table_[2];  ///< the lower and the upper bytes of the words
};

scanner_pointer make_adler_scan(const adler_hash& hash, const masked_test& test) {
  if (!guard_of<adler_lanes>().is_worthwhile(std::exp2(std::popcount(test.mask)))) return nullptr;
  return std::make_unique<column_scanner<adler_lanes, masked_test>>(adler_lanes(hash, test), std::span(&test, 1));
}

}  // namespace cutpoint::simd::avx512_dl
CUTPOINT_AFTER_AVX512_DL;
#endif

#if HWY_ONCE
namespace cutpoint::simd {

scanner_pointer make_adler_scanner(const adler_hash& hash, const masked_test& test, instruction_set set) {
#if (HWY_TARGETS & HWY_AVX3) != 0
  const bool is_kept = hash.window() >= group_steps && hash.window() <= longest_window;
  if (set == instruction_set::avx512_dl && is_kept) return avx512_dl::make_adler_scan(hash, test);
#endif
  static_cast<void>(hash), static_cast<void>(test), static_cast<void>(set);
  return nullptr;
}

}  // namespace cutpoint::simd
#endif
