// Scans with the polynomial hash modulo 2^31 - 1: lanes of 32 bits in four vectors.
#include "simd/scans/rabin_inck_scan.h"

#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "simd/dispatch/dispatch.h"
#include "simd/scans/lane_scanner.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/rabin_inck_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/column_ring-inl.h"
#include "simd/scans/column_scan-inl.h"

using word_tag = hn::ScalableTag<std::uint32_t>;
using word_vector = hn::VFromD<word_tag>;

/// A hash h is rolled by its successor h + 1, which is in [1, p] as every rotation of it by bits is, so
///
///   256 (h + 1) + (in - 256) - 2^k out = 256 h + in - 2^k out
///
/// is less than p. Where it is negative, p is added.
class rabin_inck_lanes {
 public:
  static constexpr rolling_direction direction = rolling_direction::forward;
  static constexpr double loop_speedup = lanes / 20.0;
  /// Vector k has lanes 4 k to 4 k + 3 of each 16.
  struct state {
    word_vector words[4];
  };

  rabin_inck_lanes(std::uint64_t window, const masked_test& test)
      : window_(window),
        mask_(static_cast<std::uint32_t>(test.mask)),
        pattern_(static_cast<std::uint32_t>(test.pattern)) {}
  [[nodiscard]] std::uint64_t window() const { return window_; }

  class steps {
   public:
    HWY_INLINE explicit steps(const rabin_inck_lanes& hash)
        : factors_(hn::Set(word_tag(), 1 | (0 - (std::uint32_t{1} << removal_shift(hash.window_))) << 16)) {}
    HWY_INLINE state begin() const {
      state zeros;
      for (word_vector& words : zeros.words) words = hn::Zero(word_tag());
      return zeros;
    }
    HWY_INLINE void roll(state& hash, std::int64_t, byte_vector newest, byte_vector oldest) const {
      const byte_tag d;
      // Pairs of 16-bit words: in - 256 and out
      const byte_vector upper = hn::BitCast(d, hn::Set(hn::ScalableTag<std::uint16_t>(), 0xff));
      const byte_vector low = hn::InterleaveLower(d, newest, oldest), high = hn::InterleaveUpper(d, newest, oldest);
      hash.words[0] = rolled(hash.words[0], hn::InterleaveLower(d, low, upper));
      hash.words[1] = rolled(hash.words[1], hn::InterleaveUpper(d, low, upper));
      hash.words[2] = rolled(hash.words[2], hn::InterleaveLower(d, high, upper));
      hash.words[3] = rolled(hash.words[3], hn::InterleaveUpper(d, high, upper));
    }

   private:
    HWY_INLINE word_vector rolled(word_vector hash, byte_vector pairs) const {
      const word_tag d;
      const hn::ScalableTag<std::int32_t> d_signed;
      const hn::ScalableTag<std::int16_t> d_half;
      const word_vector prime = hn::Set(d, rabin_inck_hash::prime);
      const word_vector next = hn::Add(hash, hn::Set(d, 1));
      const word_vector rotated = hn::OrAnd(hn::ShiftRight<23>(next), hn::ShiftLeft<8>(next), prime);
      auto unused = hn::Zero(d_signed);  // on x86, all products are added to the first sum
      const word_vector sum = hn::BitCast(
          d, hn::ReorderWidenMulAccumulate(d_signed, hn::BitCast(d_half, pairs), hn::BitCast(d_half, factors_),
                                           hn::BitCast(d_signed, rotated), unused));
      return hn::Min(sum, hn::Add(sum, prime));
    }

    word_vector factors_;
  };

  HWY_INLINE word_vector least_of_none() const { return hn::Set(word_tag(), ~std::uint32_t{0}); }
  HWY_INLINE word_vector merge(word_vector least, const state& hash) const {
    const word_vector lower = hn::Min(differing(hash.words[0]), differing(hash.words[1]));
    const word_vector upper = hn::Min(differing(hash.words[2]), differing(hash.words[3]));
    return hn::Min(least, hn::Min(lower, upper));
  }
  HWY_INLINE bool is_any_accepted(word_vector least) const {
    return !hn::AllFalse(word_tag(), hn::Eq(least, hn::Zero(word_tag())));
  }
  HWY_INLINE std::uint64_t accepted(const state& hash) const {
    std::uint64_t all = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      all |= std::uint64_t{((word(hash, lane, nullptr) ^ pattern_) & mask_) == 0} << lane;
    }
    return all;
  }
  HWY_INLINE std::uint64_t word(const state& hash, std::uint64_t lane, const std::uint8_t*) const {
    const std::uint64_t index = lane % 16 / 4 * (lanes / 4) + lane / 16 * 4 + lane % 4;
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(hash.words) + index * sizeof(word), sizeof(word));
    return word;
  }

  /// Returns k, so that a byte that leaves the window weighs 256^window mod p = 2^k.
  static std::uint64_t removal_shift(std::uint64_t window) { return 8 * window % 31; }

 private:
  /// Returns zeros for the lanes whose hash the filter accepts.
  HWY_INLINE word_vector differing(word_vector hash) const {
    const word_tag d;
    return hn::And(hn::Xor(hash, hn::Set(d, pattern_)), hn::Set(d, mask_));
  }

  std::uint64_t window_;
  std::uint32_t mask_;
  std::uint32_t pattern_;
};

std::unique_ptr<const candidate_scanner> make_rabin_inck_scan(std::uint64_t window, const masked_test& test) {
  constexpr std::uint64_t largest_shift = 15;  // of a factor of 16 bits
  if (rabin_inck_lanes::removal_shift(window) > largest_shift) return nullptr;
  return std::make_unique<column_scanner<rabin_inck_lanes>>(rabin_inck_lanes(window, test), std::span(&test, 1));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

std::unique_ptr<const candidate_scanner> make_rabin_inck_scanner(std::uint64_t window, const masked_test& test,
                                                                 instruction_set set) {
  using scan_maker = std::unique_ptr<const candidate_scanner> (*)(std::uint64_t, const masked_test&);
  constexpr int least_bits = 7;
  constexpr kernel_table<scan_maker> makers = {nullptr, HWY_CHOOSE_AVX2(make_rabin_inck_scan),
                                               HWY_CHOOSE_AVX3(make_rabin_inck_scan),
                                               HWY_CHOOSE_AVX3(make_rabin_inck_scan)};
  const scan_maker make = makers[static_cast<std::size_t>(set)];
  if (make == nullptr || window > longest_window || std::popcount(test.mask) < least_bits) return nullptr;
  return make(window, test);
}

}  // namespace cutpoint::simd
#endif
