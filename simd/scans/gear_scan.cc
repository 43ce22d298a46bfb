// Scans with the gear hash: 32 lanes of 64 bits. The table is looked up for 64 bytes at a time, one plane (byte of the
// words) after the other; the planes are then interleaved to words.
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "simd/dispatch/dispatch.h"
#include "simd/dispatch/instruction_set.h"
#include "simd/scans/byte_columns.h"
#include "simd/scans/lane_scanner.h"
#include "simd/scans/scanners.h"

#if CUTPOINT_HAS_AVX512_DL
CUTPOINT_BEFORE_AVX512_DL;
namespace cutpoint::simd {
namespace {

using gear_words = std::array<std::uint64_t, 256>;

/// Transposes eight rows of eight 64-bit words.
HWY_INLINE void transpose(__m512i* r) {
  __m512i pairs[8];
  for (std::size_t i = 0; i < 4; ++i) {
    pairs[i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);      // even columns
    pairs[4 + i] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);  // odd columns
  }
  for (std::size_t odd = 0; odd < 2; ++odd) {
    const __m512i* p = pairs + 4 * odd;
    const __m512i low01 = _mm512_shuffle_i64x2(p[0], p[1], 0x44), high01 = _mm512_shuffle_i64x2(p[0], p[1], 0xee);
    const __m512i low23 = _mm512_shuffle_i64x2(p[2], p[3], 0x44), high23 = _mm512_shuffle_i64x2(p[2], p[3], 0xee);
    r[odd] = _mm512_shuffle_i64x2(low01, low23, 0x88);
    r[2 + odd] = _mm512_shuffle_i64x2(low01, low23, 0xdd);
    r[4 + odd] = _mm512_shuffle_i64x2(high01, high23, 0x88);
    r[6 + odd] = _mm512_shuffle_i64x2(high01, high23, 0xdd);
  }
}

/// `planes` is 6 if no mask has one of the upper 16 bits, else 8.
template <std::size_t planes>
class gear_scanner final : public lane_scanner<gear_scanner<planes>> {
 public:
  static constexpr std::uint64_t lane_count = 32;
  static constexpr double loop_speedup = 1.4;
  static constexpr std::uint64_t candidate_cost = 155;

  gear_scanner(const gear_words& table, std::span<const std::uint64_t> masks, std::uint64_t filter)
      : words_(table), masks_(masks.begin(), masks.end()), filter_(filter) {
    for (std::size_t plane = 0; plane < planes; ++plane) {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        table_[plane].bytes[byte] = static_cast<std::uint8_t>(table[byte] >> (8 * plane));
      }
    }
  }

  /// Where instructions are executed in halves, the loop is as fast.
  [[nodiscard]] double speedup() const noexcept override { return halves_512_bits() ? 1 : loop_speedup; }

  bool scan_lanes(const lane_tile& tile, density_guard& guard, candidate_bits& map) const {
    __m512i hashes[groups] = {};
    column_words words;
    load_column<true>(tile.first - column_bytes, tile.stride, words);
    for (std::size_t step = 0; step < 8; ++step) {
      for (std::size_t g = 0; g < groups; ++g) roll(words, g, step, hashes[g]);
    }
    for (std::uint64_t at = 0; at < tile.stride; at += column_bytes) {
      tile.prefetch_column(lane_count, at / column_bytes * column_bytes);
      load_column<false>(tile.first + at, tile.stride, words);
      for (std::size_t step = 0; step < 8; ++step) {
        __m512i before[groups];
        __mmask8 rejected[groups];
        unsigned int all = 0xff;
        for (std::size_t g = 0; g < groups; ++g) before[g] = hashes[g];
        for (std::size_t g = 0; g < groups; ++g) rejected[g] = roll(words, g, step, hashes[g]);
        for (std::size_t g = 0; g < groups; ++g) all &= rejected[g];
        if (all == 0xff) [[likely]]
          continue;
        for (std::size_t g = 0; g < groups; ++g) {
          guard.add_candidates(
              mark(tile, g, at + 8 * step, before[g], 0xffu & ~static_cast<unsigned int>(rejected[g]), map));
        }
      }
      if (guard.is_exceeded((at + column_bytes) * lane_count)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t groups = lane_count / 8;  ///< vectors of eight lanes

  /// The table's words for eight bytes of eight lanes, in halves: vector i of each has steps 2 i and 2 i + 1.
  struct step_words {
    __m512i low[4];
    __m512i high[planes == 8 ? 4 : 2];
  };
  using column_words = step_words[groups][8];

  /// For the warm-up, the first byte is not read: it has no effect, and may lie outside the stream.
  template <bool is_warm_up>
  HWY_INLINE void load_column(const std::uint8_t* first, std::uint64_t stride, column_words& words) const {
    // Orders the eight bytes of two lanes by steps.
    const __m512i by_step = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    __m512i bytes[groups][8];
    for (std::size_t g = 0; g < groups; ++g) {
      __m512i rows[8];
      for (std::size_t k = is_warm_up && g == 0 ? 1 : 0; k < 8; ++k)
        rows[k] = _mm512_loadu_si512(first + (8 * g + k) * stride);
      if (is_warm_up && g == 0) rows[0] = _mm512_maskz_loadu_epi8(~std::uint64_t{1}, first);
      transpose(rows);
      for (std::size_t k = 0; k < 8; ++k) bytes[g][k] = _mm512_shuffle_epi8(rows[k], by_step);
    }
    look_up_low(&bytes[0][0], &words[0][0]);
    look_up_high(&bytes[0][0], &words[0][0]);
  }

  HWY_NOINLINE void look_up_low(const __m512i* bytes, step_words* words) const {
    const loaded_byte_table t0 = plane(0), t1 = plane(1), t2 = plane(2), t3 = plane(3);
    for (std::size_t i = 0; i < 8 * groups; ++i) {
      const __m512i x = bytes[i];
      const __mmask64 upper = _mm512_movepi8_mask(x);
      interleave(t0(x, upper), t1(x, upper), t2(x, upper), t3(x, upper), words[i].low);
    }
  }

  HWY_NOINLINE void look_up_high(const __m512i* bytes, step_words* words) const {
    const loaded_byte_table t4 = plane(4), t5 = plane(5);
    if constexpr (planes == 8) {
      const loaded_byte_table t6 = plane(6), t7 = plane(7);
      for (std::size_t i = 0; i < 8 * groups; ++i) {
        const __m512i x = bytes[i];
        const __mmask64 upper = _mm512_movepi8_mask(x);
        interleave(t4(x, upper), t5(x, upper), t6(x, upper), t7(x, upper), words[i].high);
      }
    } else {
      for (std::size_t i = 0; i < 8 * groups; ++i) {
        const __m512i x = bytes[i];
        const __mmask64 upper = _mm512_movepi8_mask(x);
        const __m512i p4 = t4(x, upper), p5 = t5(x, upper);
        words[i].high[0] = _mm512_unpacklo_epi8(p4, p5);
        words[i].high[1] = _mm512_unpackhi_epi8(p4, p5);
      }
    }
  }

  HWY_INLINE loaded_byte_table plane(std::size_t index) const { return loaded_byte_table(table_[index]).pinned(); }

  /// Rolls eight bytes into the hashes of group `g`. Returns the lanes in which the filter rejects all eight.
  HWY_INLINE __mmask8 roll(const column_words& words, std::size_t g, std::size_t step, __m512i& hash) const {
    const step_words& w = words[g][step];
    const __m512i filter = _mm512_set1_epi64(static_cast<long long>(filter_));
    __mmask8 rejected = 0xff;
    for (std::size_t i = 0; i < 4; ++i) {
      __m512i high = w.high[planes == 8 ? i : i / 2];
      if constexpr (planes == 6) {  // the upper 16 bits are never tested and carry into none that are
        high = i % 2 == 0 ? _mm512_unpacklo_epi16(high, high) : _mm512_unpackhi_epi16(high, high);
      }
      for (const __m512i word : {_mm512_unpacklo_epi32(w.low[i], high), _mm512_unpackhi_epi32(w.low[i], high)}) {
        hash = _mm512_add_epi64(_mm512_add_epi64(hash, hash), word);
        rejected = _mm512_mask_test_epi64_mask(rejected, hash, filter);
      }
    }
    return rejected;
  }

  /// Marks the candidates among eight steps of the lanes `accepted` of group `g`, from the hashes before these steps.
  /// Returns their number.
  HWY_NOINLINE std::uint64_t mark(const lane_tile& tile, std::size_t g, std::uint64_t offset, __m512i before,
                                  unsigned int accepted, candidate_bits& map) const {
    alignas(64) std::uint64_t hashes[8];
    _mm512_store_si512(hashes, before);
    std::uint64_t count = 0;
    for (; accepted != 0; accepted &= accepted - 1) {
      const auto lane = static_cast<std::uint64_t>(std::countr_zero(accepted));
      const std::uint64_t first = (8 * g + lane) * tile.stride + offset;
      std::uint64_t hash = hashes[lane];
      for (std::uint64_t i = first; i < first + 8; ++i) {
        hash = 2 * hash + words_[tile.first[i]];
        if ((hash & filter_) != 0) continue;
        ++count;
        for (std::size_t level = 0; level < masks_.size(); ++level) {
          if ((hash & masks_[level]) == 0) map.mark(tile.position + i, level);
        }
      }
    }
    return count;
  }

  byte_table table_[planes];
  gear_words words_;
  std::vector<std::uint64_t> masks_;
  std::uint64_t filter_;  ///< the bits that all masks have
};

}  // namespace
}  // namespace cutpoint::simd
CUTPOINT_AFTER_AVX512_DL;
#endif

namespace cutpoint::simd {

scanner_pointer make_gear_scanner(const std::array<std::uint64_t, 256>& table, std::span<const std::uint64_t> masks) {
#if CUTPOINT_HAS_AVX512_DL
  const std::uint64_t filter = std::accumulate(masks.begin(), masks.end(), ~std::uint64_t{0}, std::bit_and<>());
  if (!guard_of<gear_scanner<8>>().is_worthwhile(std::exp2(std::popcount(filter)))) return nullptr;
  const auto highest = std::bit_width(std::accumulate(masks.begin(), masks.end(), std::uint64_t{0}, std::bit_or<>()));
  if (highest <= 48) return std::make_unique<gear_scanner<6>>(table, masks, filter);
  return std::make_unique<gear_scanner<8>>(table, masks, filter);
#else
  static_cast<void>(table), static_cast<void>(masks);
  return nullptr;
#endif
}

}  // namespace cutpoint::simd
