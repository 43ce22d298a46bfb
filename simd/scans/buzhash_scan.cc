// Scans with buzhash: 64 lanes of 32 bits in four planes, each of which has one byte of the words.
//
// The word of byte i, rotated right i times, is added to a sum (a sum is a XOR). A hash is then the difference of two
// sums, rotated left i times. Rotations by 8 exchange planes, so tables for rotations by 0 to 7 are enough.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "simd/dispatch/dispatch.h"
#include "simd/scans/byte_columns.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/scans/buzhash_scan.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd::avx512_dl {

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/columns-inl.h"

/// Longer windows would displace the tables from the first-level cache.
inline constexpr std::uint64_t longest_kept_window = 128;
inline constexpr std::size_t word_planes = 4;

/// One plane of the hashes of all lanes each.
using hash_planes = __m512i[word_planes];

HWY_INLINE __m512i filled(std::uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }

/// Accepts hashes that have zeros under a mask. It does not test the bits that lie in the plane 2 of rotated hashes.
class zeros_filter {
 public:
  static constexpr double loop_speedup = 2;
  static constexpr std::size_t ignored_plane = 2;
  struct merged {
    __m512i least;
  };

  explicit zeros_filter(std::uint32_t mask) {
    for (std::size_t step = 0; step < group_steps; ++step) {
      const std::uint32_t turned = std::rotr(mask, static_cast<int>(step));
      for (std::size_t plane = 0; plane < word_planes; ++plane) {
        masks_[step][plane] = ((turned >> (8 * plane)) & 0xff) * 0x01010101u;
      }
    }
  }
  static HWY_INLINE merged begin() { return {filled(~std::uint32_t{0})}; }
  HWY_INLINE void merge(merged& all, std::size_t step, const hash_planes& hashes) const {
    constexpr int or_of_masked = 0xf8;
    const auto& masks = masks_[step];
    __m512i bits = _mm512_and_si512(hashes[0], filled(masks[0]));
    bits = _mm512_ternarylogic_epi32(bits, hashes[1], filled(masks[1]), or_of_masked);
    bits = _mm512_ternarylogic_epi32(bits, hashes[3], filled(masks[3]), or_of_masked);
    all.least = _mm512_min_epu8(all.least, bits);
  }
  [[nodiscard]] HWY_INLINE std::uint64_t accepted(const merged& all) const {
    return _mm512_testn_epi8_mask(all.least, all.least);
  }

 private:
  std::array<std::array<std::uint32_t, word_planes>, group_steps> masks_;
};

/// Accepts hashes h for which h + 1 is a multiple of a divisor, or 2^32. The product with the inverse of the divisor's
/// odd part is small only for multiples (Granlund and Montgomery 1994, section 9).
class divisor_filter {
 public:
  static constexpr double loop_speedup = 2.5;
  static constexpr std::size_t ignored_plane = word_planes;
  struct merged {
    __m512i least[4];
  };

  explicit divisor_filter(std::uint32_t divisor)
      : shift_(static_cast<std::uint32_t>(std::countr_zero(divisor))), largest_(~std::uint32_t{0} / divisor) {
    const std::uint32_t odd = divisor >> shift_;
    inverse_ = odd;  // correct to three bits; each step doubles them
    for (int bits = 3; bits < 32; bits *= 2) inverse_ *= 2 - odd * inverse_;
  }
  static HWY_INLINE merged begin() {
    const __m512i largest = filled(~std::uint32_t{0});
    return {{largest, largest, largest, largest}};
  }
  HWY_INLINE void merge(merged& all, std::size_t step, const hash_planes& hashes) const {
    const __m512i inverse = filled(inverse_), turn = filled(static_cast<std::uint32_t>(step)), shift = filled(shift_);
    __m512i words[4];
    interleave(hashes[0], hashes[1], hashes[2], hashes[3], words);
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      const __m512i product = _mm512_mullo_epi32(_mm512_rolv_epi32(words[i], turn), inverse);
      all.least[i] = _mm512_min_epu32(all.least[i], _mm512_rorv_epi32(_mm512_add_epi32(product, inverse), shift));
    }
  }
  [[nodiscard]] HWY_INLINE std::uint64_t accepted(const merged& all) const {
    std::uint64_t lanes_found = 0;
    for (std::size_t i = 0; i < 4; ++i) {  // vector i has lanes 4 i to 4 i + 3 of each 16
      const std::uint64_t accepted_bits = _mm512_cmple_epu32_mask(all.least[i], filled(largest_));
      lanes_found |= _pdep_u64(accepted_bits, std::uint64_t{0x000f000f000f000f} << (4 * i));
    }
    return lanes_found;
  }

 private:
  std::uint32_t shift_;
  std::uint32_t largest_;
  std::uint32_t inverse_;
};

/// Keeps the sums up to each byte in the window.
template <class Filter>
class buzhash_lanes {
 public:
  static constexpr rolling_direction direction = rolling_direction::forward;
  static constexpr double loop_speedup = Filter::loop_speedup;
  static constexpr std::uint64_t candidate_cost = 320;
  /// The sums are rotated left by 8 before each group.
  struct state {
    hash_planes sums;
  };
  using history = step_history<word_planes, longest_kept_window>;
  struct filter {
    typename Filter::merged hashes;
    history::group sums;
  };

  /// The filter is shown the hashes after they have been xored with `inversion`, whose bytes are equal.
  buzhash_lanes(const buzhash32_table& table, std::uint64_t window, const Filter& accepts, std::uint32_t inversion)
      : hash_(table, window), filter_(accepts), inversion_(inversion) {
    for (std::size_t step = 0; step < group_steps; ++step) {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::uint32_t word = std::rotr(table[byte], static_cast<int>(step));
        for (std::size_t plane = 0; plane < word_planes; ++plane) {
          tables_[step][plane].bytes[byte] = static_cast<std::uint8_t>(word >> (8 * plane));
        }
      }
      const std::size_t groups = (window + group_steps - 1 - step) / group_steps;  // since the oldest sum was kept
      for (std::size_t plane = 0; plane < word_planes; ++plane) {
        oldest_planes_[step][plane] = static_cast<std::uint32_t>((plane - groups) % word_planes * sizeof(__m512i));
      }
    }
  }
  [[nodiscard]] std::uint64_t window() const { return hash_.window(); }

  class steps {
   public:
    HWY_INLINE steps(const buzhash_lanes& hash, history& sums)
        : hash_(hash), sums_(sums), inversion_(filled(hash.inversion_)) {}
    HWY_INLINE state begin() const { return {.sums = {}}; }
    HWY_INLINE filter begin_group(state& all) const {
      const __m512i last = all.sums[3];
      all.sums[3] = all.sums[2];
      all.sums[2] = all.sums[1];
      all.sums[1] = all.sums[0];
      all.sums[0] = last;
      return {.hashes = Filter::begin(), .sums = sums_.next_group()};
    }
    HWY_INLINE void roll(state& all, filter& filtered, std::size_t step, byte_vector newest, byte_vector) const {
      const __mmask64 upper = _mm512_movepi8_mask(newest.raw);
      hash_planes hashes;
      HWY_UNROLL(4)
      for (std::size_t plane = 0; plane < word_planes; ++plane) {
        const __m512i incoming = loaded_byte_table(hash_.tables_[step][plane])(newest.raw, upper);
        all.sums[plane] = _mm512_xor_si512(all.sums[plane], incoming);
        if (plane == Filter::ignored_plane) continue;
        const auto* const sums = reinterpret_cast<const std::uint8_t*>(filtered.sums.oldest[step]);
        __m512i oldest = _mm512_load_si512(sums + hash_.oldest_planes_[step][plane]);
        asm("" : "+v"(oldest));  // GCC 12 would copy it to the stack and back
        hashes[plane] = _mm512_ternarylogic_epi32(all.sums[plane], oldest, inversion_, 0x96);
      }
      HWY_UNROLL(4)
      for (std::size_t plane = 0; plane < word_planes; ++plane) {
        _mm512_store_si512(filtered.sums.newest[step] + plane, all.sums[plane]);
      }
      hash_.filter_.merge(filtered.hashes, step, hashes);
    }

   private:
    const buzhash_lanes& hash_;
    history& sums_;
    __m512i inversion_;
  };

  HWY_INLINE bool is_any_accepted(const filter& filtered) const { return accepted(filtered) != 0; }
  HWY_INLINE std::uint64_t accepted(const filter& filtered) const { return filter_.accepted(filtered.hashes); }
  void words(const state&, std::uint64_t, const lane_group& group, std::uint64_t* words) const {
    const std::uint8_t* const oldest = group.last - hash_.window();
    std::uint32_t word = hash_.over(oldest + 1);
    for (std::size_t i = 0; i < group_steps; ++i) {
      if (i != 0) word = hash_.roll(word, oldest[i], group.last[i]);
      words[i] = word;
    }
  }

 private:
  buzhash hash_;
  Filter filter_;
  std::uint32_t inversion_;
  /// Where a kept sum has the plane that has become each plane of its hash, in bytes.
  std::array<std::array<std::uint32_t, word_planes>, group_steps> oldest_planes_;
  /// The planes of the table's words, rotated right by 0 to 7.
  std::array<std::array<byte_table, word_planes>, group_steps> tables_;
};

template <class Filter>
scanner_pointer make_scan(const buzhash32_table& table, std::uint64_t window, const buzhash_rule& rule,
                          const Filter& filter, std::uint32_t inversion) {
  if (!guard_of<buzhash_lanes<Filter>>().is_worthwhile(rule.mean_distance())) return nullptr;
  return std::make_unique<column_scanner<buzhash_lanes<Filter>, buzhash_rule>>(
      buzhash_lanes<Filter>(table, window, filter, inversion), std::span(&rule, 1));
}

scanner_pointer make_buzhash_scan(const buzhash32_table& table, std::uint64_t window, const buzhash_rule& rule) {
  const bool is_kept = window >= group_steps && window <= longest_kept_window;
  if (rule.divisor != 0) {
    if (!is_kept) return nullptr;
    return make_scan(table, window, rule, divisor_filter(rule.divisor), 0);
  }
  // The upper bits of a residue are the same for all that are accepted, and all zeros or all ones.
  const std::uint32_t fixed = rule.mask & ~(std::bit_ceil((rule.lowest ^ rule.highest) + 1) - 1);
  const std::uint32_t inversion = (rule.lowest & fixed) != 0 ? ~std::uint32_t{0} : 0;
  if (!is_kept) return make_buzhash_line_scan(table, window, rule, fixed, inversion);
  return make_scan(table, window, rule, zeros_filter(fixed), inversion);
}

}  // namespace cutpoint::simd::avx512_dl
CUTPOINT_AFTER_AVX512_DL;
#endif

#if HWY_ONCE
namespace cutpoint::simd {

scanner_pointer make_buzhash_scanner(const buzhash32_table& table, std::uint64_t window, const buzhash_rule& rule) {
#if (HWY_TARGETS & HWY_AVX3) != 0
  return avx512_dl::make_buzhash_scan(table, window, rule);
#else
  static_cast<void>(table), static_cast<void>(window), static_cast<void>(rule);
  return nullptr;
#endif
}

}  // namespace cutpoint::simd
#endif
