// The steps of a hash that is linear over GF(2), for one instruction set. `linear_scan.cc` includes it in the namespace
// of each set. CUTPOINT_HAS_GFNI says whether the set multiplies bytes by matrices.
//
// Each byte of a vector belongs to a lane. A hash is stored as planes: vector k has byte k of the hash of each lane.

namespace hn = hwy::HWY_NAMESPACE;

#include "simd/scans/columns-inl.h"

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

/// Nothing to do: all matrices fit into registers.
HWY_INLINE const plane_map* from_memory(const plane_map* maps) { return maps; }

/// Adds two images to `plane`. `last` is known last.
HWY_INLINE byte_vector add_images(byte_vector plane, const plane_map& exchange, const map_argument& before,
                                  const plane_map& reduce, const map_argument& last) {
  return hn::Xor3(plane, reduce(last), exchange(before));
}

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
  alignas(lanes) std::uint8_t low[lanes];
  alignas(lanes) std::uint8_t high[lanes];

  HWY_INLINE void set(const byte_map& map, std::size_t plane) {
    alignas(16) std::uint8_t tables[2][16] = {};
    for (std::size_t half = 0; half < 16; ++half) {
      for (std::size_t bit = 0; bit < 4; ++bit) {
        if (((half >> bit) & 1) == 0) continue;
        tables[0][half] ^= static_cast<std::uint8_t>(map[bit] >> (8 * plane));
        tables[1][half] ^= static_cast<std::uint8_t>(map[4 + bit] >> (8 * plane));
      }
    }
    hn::Store(hn::LoadDup128(byte_tag(), tables[0]), byte_tag(), low);
    hn::Store(hn::LoadDup128(byte_tag(), tables[1]), byte_tag(), high);
  }
};

/// Leaves the registers to the planes: the compiler would load some tables once, and keep planes on the stack.
HWY_INLINE const plane_map* from_memory(const plane_map* maps) {
  asm volatile("" : "+r"(maps));
  return maps;
}

HWY_INLINE byte_vector add_image(byte_vector plane, const std::uint8_t* table, byte_vector halves) {
  plane = hn::Xor(plane, hn::TableLookupBytes(hn::Load(byte_tag(), table), halves));
  asm volatile("" : "+v"(plane.raw));  // GCC 12 would look up several planes first, and keep the images on the stack
  return plane;
}

/// Adds two images to `plane`. `last` is known last.
HWY_INLINE byte_vector add_images(byte_vector plane, const plane_map& exchange, const map_argument& before,
                                  const plane_map& reduce, const map_argument& last) {
  plane = add_image(plane, exchange.low, before.low);
  plane = add_image(plane, exchange.high, before.high);
  plane = add_image(plane, reduce.low, last.low);
  return add_image(plane, reduce.high, last.high);
}

#endif

constexpr double linear_speedup = CUTPOINT_HAS_GFNI ? 5 : lanes == 64 ? 2.5 : 2;
constexpr std::uint64_t linear_candidate_cost = CUTPOINT_HAS_GFNI ? 400 : lanes == 64 ? 250 : 150;

// On a Xeon of 3 GHz (Emerald Rapids), a step of the Rabin hash takes 20 cycles for 64 lanes with GFNI.
template <std::size_t plane_count, rolling_direction rolling>
class linear_lanes {
 public:
  static constexpr rolling_direction direction = rolling;
  static constexpr double loop_speedup = linear_speedup;
  static constexpr std::uint64_t candidate_cost = linear_candidate_cost;
  struct state {
    byte_vector planes[plane_count];
  };
  using history = no_history;
  /// Zeros for the lanes that have hashes that the common test accepts.
  struct filter {
    byte_vector least;
  };

  linear_lanes(const linear_hash& hash, masked_test common) : hash_(hash), common_(common) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      reduce_[byte] = image_of(hash.reduce, byte);
      exchange_[byte] = image_of(hash.exchange, byte);
    }
  }
  [[nodiscard]] std::uint64_t window() const { return hash_.window; }

  class steps {
   public:
    HWY_INLINE steps(const linear_lanes& table, const no_history&) : common_(table.common_) {
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
    HWY_INLINE filter begin_group(state&) const { return {.least = hn::Set(byte_tag(), 0xff)}; }
    HWY_INLINE void roll(state& hash, filter& filtered, std::size_t, byte_vector newest, byte_vector oldest) const {
      const map_argument last = argument_of(hn::Xor(hash.planes[0], is_forward ? newest : oldest));
      const map_argument before = argument_of(is_forward ? oldest : newest);
      const plane_map* const reduce = from_memory(reduce_);
      const plane_map* const exchange = from_memory(exchange_);
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < plane_count; ++i) {
        const byte_vector next = i + 1 < plane_count ? hash.planes[i + 1] : hn::Zero(byte_tag());
        hash.planes[i] = add_images(next, exchange[i], before, reduce[i], last);
      }
      filtered.least = hn::Min(filtered.least, differing(hash));
    }

   private:
    /// Returns zeros for the lanes whose hash the common test accepts.
    HWY_INLINE byte_vector differing(const state& hash) const {
      const byte_tag d;
      const byte_vector pattern = hn::Set(d, static_cast<std::uint8_t>(common_.pattern));
      const byte_vector mask = hn::Set(d, static_cast<std::uint8_t>(common_.mask));
      const byte_vector next_mask = hn::Set(d, static_cast<std::uint8_t>(common_.mask >> 8));
      return hn::OrAnd(hn::And(hn::Xor(hash.planes[0], pattern), mask), hash.planes[1], next_mask);
    }

    masked_test common_;
    plane_map reduce_[plane_count];
    plane_map exchange_[plane_count];
  };

  HWY_INLINE bool is_any_accepted(const filter& filtered) const {
    return !hn::AllFalse(byte_tag(), hn::Eq(filtered.least, hn::Zero(byte_tag())));
  }
  HWY_INLINE std::uint64_t accepted(const filter& filtered) const {
    std::uint64_t accepted = 0;
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(byte_tag(), hn::Eq(filtered.least, hn::Zero(byte_tag())), bits);
    std::memcpy(&accepted, bits, sizeof(accepted));
    return accepted;
  }
  void words(const state& before, std::uint64_t lane, const lane_group& group, std::uint64_t* words) const {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(before.planes) + lane;
    std::uint64_t word = 0;
    for (std::size_t plane = plane_count; plane-- > 0;) word = (word << 8) | bytes[plane * lanes];
    for (std::size_t i = 0; i < group_steps; ++i) {
      const std::uint8_t newest = group.newest[i * lanes], oldest = group.oldest[i * lanes];
      const std::uint64_t last = (word ^ (is_forward ? newest : oldest)) & 0xff;
      word = (word >> 8) ^ reduce_[last] ^ exchange_[is_forward ? oldest : newest];
      words[i] = word;
    }
  }

 private:
  static constexpr bool is_forward = direction == rolling_direction::forward;

  static std::uint64_t image_of(const byte_map& map, std::size_t byte) {
    std::uint64_t image = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) image ^= ((byte >> bit) & 1) != 0 ? map[bit] : 0;
    return image;
  }

  linear_hash hash_;
  masked_test common_;
  std::array<std::uint64_t, 256> reduce_;
  std::array<std::uint64_t, 256> exchange_;
};

inline std::unique_ptr<const candidate_scanner> make_linear_scan(const linear_hash& hash,
                                                                 std::span<const masked_test> tests,
                                                                 masked_test common) {
  using forward = linear_lanes<4, rolling_direction::forward>;
  using backward = linear_lanes<7, rolling_direction::backward>;
  const double distance = std::exp2(std::popcount(common.mask));
  if (hash.direction == rolling_direction::forward) {
    if (!guard_of<forward>().is_worthwhile(distance)) return nullptr;
    return std::make_unique<column_scanner<forward, masked_test>>(forward(hash, common), tests);
  }
  if (!guard_of<backward>().is_worthwhile(distance)) return nullptr;
  return std::make_unique<column_scanner<backward, masked_test>>(backward(hash, common), tests);
}
