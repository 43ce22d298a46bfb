// Scans with the polynomial hash modulo 2^31 - 1: lanes of 32 bits in four vectors.
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "host/algorithms/rabin_inck.h"
#include "simd/dispatch/dispatch.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/rabin_inck_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace cutpoint::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/columns-inl.h"

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
  static constexpr double loop_speedup = lanes / 14.0;
  static constexpr std::uint64_t candidate_cost = lanes == 64 ? 300 : 200;
  /// Vector k has lanes 4 k to 4 k + 3 of each 16.
  struct state {
    word_vector words[4];
  };

  using history = no_history;
  /// Zeros for the lanes of each vector that have accepted hashes.
  struct filter {
    word_vector least[4];
  };

  rabin_inck_lanes(std::uint64_t window, const masked_test& test)
      : hash_(window),
        mask_(static_cast<std::uint32_t>(test.mask)),
        pattern_(static_cast<std::uint32_t>(test.pattern)) {}
  [[nodiscard]] std::uint64_t window() const { return hash_.window(); }

  class steps {
   public:
    HWY_INLINE steps(const rabin_inck_lanes& hash, const no_history&)
        : factors_(hn::Set(word_tag(), 1 | (0 - (std::uint32_t{1} << removal_shift(hash.window()))) << 16)),
          mask_(hn::Set(word_tag(), hash.mask_)),
          pattern_(hn::Set(word_tag(), hash.pattern_)) {}
    HWY_INLINE state begin() const {
      state zeros;
      for (word_vector& words : zeros.words) words = hn::Zero(word_tag());
      return zeros;
    }
    HWY_INLINE filter begin_group(state&) const {
      filter none;
      for (word_vector& least : none.least) least = hn::Set(word_tag(), ~std::uint32_t{0});
      return none;
    }
    HWY_INLINE void roll(state& hash, filter& filtered, std::size_t, byte_vector newest, byte_vector oldest) const {
      const byte_tag d;
      // Pairs of 16-bit words: in - 256 and out
      const byte_vector upper = hn::BitCast(d, hn::Set(hn::ScalableTag<std::uint16_t>(), 0xff));
      const byte_vector low = hn::InterleaveLower(d, newest, oldest), high = hn::InterleaveUpper(d, newest, oldest);
      hash.words[0] = rolled(hash.words[0], hn::InterleaveLower(d, low, upper));
      hash.words[1] = rolled(hash.words[1], hn::InterleaveUpper(d, low, upper));
      hash.words[2] = rolled(hash.words[2], hn::InterleaveLower(d, high, upper));
      hash.words[3] = rolled(hash.words[3], hn::InterleaveUpper(d, high, upper));
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < 4; ++k) {
        filtered.least[k] = hn::Min(filtered.least[k], hn::And(hn::Xor(hash.words[k], pattern_), mask_));
      }
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

    word_vector factors_, mask_, pattern_;
  };

  HWY_INLINE bool is_any_accepted(const filter& filtered) const {
    const word_vector least =
        hn::Min(hn::Min(filtered.least[0], filtered.least[1]), hn::Min(filtered.least[2], filtered.least[3]));
    return !hn::AllFalse(word_tag(), hn::Eq(least, hn::Zero(word_tag())));
  }
  HWY_INLINE std::uint64_t accepted(const filter& filtered) const {
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(word_tag(), hn::Eq(filtered.least[k], hn::Zero(word_tag())), bytes);
      const std::uint64_t bits = bytes[0] | std::uint64_t{bytes[1]} << 8;
      for (std::size_t i = 0; i < lanes / 16; ++i) all |= (bits >> (4 * i) & 15) << (16 * i + 4 * k);
    }
    return all;
  }
  void words(const state& before, std::uint64_t lane, const lane_group& group, std::uint64_t* words) const {
    std::uint64_t residue = word(before.words, lane);
    for (std::size_t i = 0; i < group_steps; ++i) {
      residue = hash_.roll(residue, group.oldest[i * lanes], group.newest[i * lanes]);
      words[i] = rabin_inck_hash::word(residue);
    }
  }

  /// Returns k, so that a byte that leaves the window weighs 256^window mod p = 2^k.
  static std::uint64_t removal_shift(std::uint64_t window) { return 8 * window % 31; }

 private:
  static std::uint32_t word(const word_vector (&words)[4], std::uint64_t lane) {
    const std::uint64_t index = lane % 16 / 4 * (lanes / 4) + lane / 16 * 4 + lane % 4;
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(words) + index * sizeof(word), sizeof(word));
    return word;
  }

  rabin_inck_hash hash_;
  std::uint32_t mask_;
  std::uint32_t pattern_;
};

scanner_pointer make_rabin_inck_scan(std::uint64_t window, const masked_test& test) {
  constexpr std::uint64_t largest_shift = 15;  // of a factor of 16 bits
  if (rabin_inck_lanes::removal_shift(window) > largest_shift) return nullptr;
  if (!guard_of<rabin_inck_lanes>().is_worthwhile(std::exp2(std::popcount(test.mask)))) return nullptr;
  return std::make_unique<column_scanner<rabin_inck_lanes, masked_test>>(rabin_inck_lanes(window, test),
                                                                         std::span(&test, 1));
}

}  // namespace cutpoint::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace cutpoint::simd {

scanner_pointer make_rabin_inck_scanner(std::uint64_t window, const masked_test& test, instruction_set set) {
  using scan_maker = std::unique_ptr<const candidate_scanner> (*)(std::uint64_t, const masked_test&);
  constexpr kernel_table<scan_maker> makers =
      CUTPOINT_KERNELS_FROM_AVX2(make_rabin_inck_scan, HWY_CHOOSE_AVX3(make_rabin_inck_scan));
  const scan_maker make = makers[static_cast<std::size_t>(set)];
  return make == nullptr || window > longest_window ? nullptr : make(window, test);
}

}  // namespace cutpoint::simd
#endif
