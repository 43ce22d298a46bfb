// The steps of a hash that is linear over GF(2), for one instruction set. `linear_scan.cc` includes it in the namespace
// of each set. CUTPOINT_HAS_GFNI says whether the set multiplies bytes by matrices.
//
// Each byte of a vector belongs to a lane. A hash is stored as planes: vector k has byte k of the hash of each lane.

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/column_ring-inl.h"
#include "simd/scans/column_scan-inl.h"

#if CUTPOINT_HAS_GFNI

/// Bytes that are looked up in plane maps.
using map_argument = byte_vector;

HWY_INLINE map_argument argument_of(byte_vector bytes) { return bytes; }

/// One byte of the words of a `byte_map`: a matrix, whose rows are stored from the last to the first.
struct plane_map {
  byte_vector matrix;

  HWY_INLINE void set(const byte_map& map, std::size_t plane) {
    std::uint64_t rows = 0;
    for (std::size_t row = 0; row < 8; ++row) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        rows |= ((map[bit] >> (8 * plane + row)) & 1) << (8 * (7 - row) + bit);
      }
    }
    matrix = byte_vector{_mm512_set1_epi64(static_cast<long long>(rows))};
  }
  HWY_INLINE byte_vector operator()(map_argument bytes) const {
    return byte_vector{_mm512_gf2p8affine_epi64_epi8(bytes.raw, matrix.raw, 0)};
  }
};

#else

/// Bytes that are looked up in plane maps, split into halves.
struct map_argument {
  byte_vector low, high;
};

HWY_INLINE map_argument argument_of(byte_vector bytes) {
  return {hn::And(bytes, hn::Set(byte_tag(), 15)), hn::ShiftRight<4>(bytes)};
}

/// One byte of the words of a `byte_map`: a table for each half.
struct plane_map {
  byte_vector low, high;

  HWY_INLINE void set(const byte_map& map, std::size_t plane) {
    alignas(16) std::uint8_t tables[2][16] = {};
    for (std::size_t half = 0; half < 16; ++half) {
      for (std::size_t bit = 0; bit < 4; ++bit) {
        if (((half >> bit) & 1) == 0) continue;
        tables[0][half] ^= static_cast<std::uint8_t>(map[bit] >> (8 * plane));
        tables[1][half] ^= static_cast<std::uint8_t>(map[4 + bit] >> (8 * plane));
      }
    }
    low = hn::LoadDup128(byte_tag(), tables[0]);
    high = hn::LoadDup128(byte_tag(), tables[1]);
  }
  HWY_INLINE byte_vector operator()(map_argument bytes) const {
    return hn::Xor(hn::TableLookupBytes(low, bytes.low), hn::TableLookupBytes(high, bytes.high));
  }
};

#endif

/// Rabin's loop is slower than that of CRC32, and its scan hardly.
constexpr double loop_speedup_of(rolling_direction rolling) {
  const bool is_rabin = rolling == rolling_direction::backward;
  if (CUTPOINT_HAS_GFNI) return is_rabin ? 5 : 4;
  if (lanes == 64) return is_rabin ? 3 : 2.5;
  return is_rabin ? 2 : 1.4;
}

// On a Xeon of 3 GHz (Emerald Rapids), a step of the Rabin hash takes 20 cycles for 64 lanes with GFNI.
template <std::size_t plane_count, rolling_direction rolling>
class linear_lanes {
 public:
  static constexpr rolling_direction direction = rolling;
  static constexpr double loop_speedup = loop_speedup_of(rolling);
  struct state {
    byte_vector planes[plane_count];
  };

  linear_lanes(const linear_hash& hash, masked_test filter) : hash_(hash), filter_(filter) {}
  [[nodiscard]] std::uint64_t window() const { return hash_.window; }

  class steps {
   public:
    HWY_INLINE explicit steps(const linear_lanes& table) {
      for (std::size_t i = 0; i < plane_count; ++i) {
        reduce_[i].set(table.hash_.reduce, i);
        exchange_[i].set(table.hash_.exchange, i);
      }
    }
    HWY_INLINE state begin() const {
      state zeros;
      for (byte_vector& plane : zeros.planes) plane = hn::Zero(byte_tag());
      return zeros;
    }
    HWY_INLINE void roll(state& hash, std::int64_t, byte_vector newest, byte_vector oldest) const {
      const map_argument last = argument_of(hn::Xor(hash.planes[0], is_forward ? newest : oldest));
      const map_argument before = argument_of(is_forward ? oldest : newest);
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < plane_count; ++i) {
        const byte_vector next = i + 1 < plane_count ? hash.planes[i + 1] : hn::Zero(byte_tag());
        hash.planes[i] = hn::Xor3(next, reduce_[i](last), exchange_[i](before));
      }
    }

   private:
    plane_map reduce_[plane_count];
    plane_map exchange_[plane_count];
  };

  HWY_INLINE byte_vector least_of_none() const { return hn::Set(byte_tag(), 0xff); }
  HWY_INLINE byte_vector merge(byte_vector least, const state& hash) const { return hn::Min(least, differing(hash)); }
  HWY_INLINE bool is_any_accepted(byte_vector least) const {
    return !hn::AllFalse(byte_tag(), hn::Eq(least, hn::Zero(byte_tag())));
  }
  HWY_INLINE std::uint64_t accepted(const state& hash) const {
    std::uint64_t accepted = 0;
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(byte_tag(), hn::Eq(differing(hash), hn::Zero(byte_tag())), bits);
    std::memcpy(&accepted, bits, sizeof(accepted));
    return accepted;
  }
  HWY_INLINE std::uint64_t word(const state& hash, std::uint64_t lane, const std::uint8_t*) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(hash.planes) + lane;
    std::uint64_t word = 0;
    for (std::size_t plane = plane_count; plane-- > 0;) word = (word << 8) | bytes[plane * lanes];
    return word;
  }

 private:
  static constexpr bool is_forward = direction == rolling_direction::forward;

  /// Returns zeros for the lanes whose hash the filter accepts.
  HWY_INLINE byte_vector differing(const state& hash) const {
    const byte_tag d;
    const byte_vector pattern = hn::Set(d, static_cast<std::uint8_t>(filter_.pattern));
    const byte_vector mask = hn::Set(d, static_cast<std::uint8_t>(filter_.mask));
    const byte_vector next_mask = hn::Set(d, static_cast<std::uint8_t>(filter_.mask >> 8));
    return hn::OrAnd(hn::And(hn::Xor(hash.planes[0], pattern), mask), hash.planes[1], next_mask);
  }

  linear_hash hash_;
  masked_test filter_;
};

inline std::unique_ptr<const candidate_scanner> make_linear_scan(const linear_hash& hash,
                                                                 std::span<const masked_test> tests,
                                                                 masked_test filter) {
  if (hash.direction == rolling_direction::forward) {
    return std::make_unique<column_scanner<linear_lanes<4, rolling_direction::forward>>>(
        linear_lanes<4, rolling_direction::forward>(hash, filter), tests);
  }
  return std::make_unique<column_scanner<linear_lanes<7, rolling_direction::backward>>>(
      linear_lanes<7, rolling_direction::backward>(hash, filter), tests);
}
