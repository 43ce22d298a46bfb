// The scan with a hash that is linear over GF(2), for one instruction set. `linear_scan.cc` includes it in the
// namespace of each set. CUTPOINT_HAS_GFNI says whether the set multiplies bytes by matrices.
//
// Each byte of a vector belongs to a lane. A hash is stored as planes: vector k has byte k of the hash of each lane.
// The bytes of the stream are transposed in the same way to columns, which have one byte of each lane.

namespace hn = hwy::HWY_NAMESPACE;

using byte_tag = hn::ScalableTag<std::uint8_t>;
using byte_vector = hn::VFromD<byte_tag>;
inline constexpr std::size_t lanes = hn::MaxLanes(byte_tag());

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

/// Loads 16 bytes of each sixteenth lane, from `bytes` on.
template <class Tag>
HWY_INLINE hn::VFromD<Tag> load_blocks(Tag d, const std::uint8_t* bytes, std::uint64_t stride) {
  if constexpr (hn::MaxLanes(Tag()) == 16) {
    return hn::LoadU(d, bytes);
  } else {
    const hn::Half<Tag> half;
    return hn::Combine(d, load_blocks(half, bytes + hn::MaxLanes(half) * stride, stride),
                       load_blocks(half, bytes, stride));
  }
}

/// The columns of a window and of some bytes after it, in the direction of rolling. A column's offset is 0 if it is the
/// last of the first window that is tested. The column before that window is zeros.
template <rolling_direction direction>
class column_ring {
 public:
  static constexpr std::int64_t block = 16;  ///< columns that are loaded together
  static constexpr std::size_t parts = 8;    ///< of loading a block
  static constexpr std::uint64_t most_window = 512 - 2 * block;

  HWY_INLINE column_ring(const lane_tile& tile, std::uint64_t window)
      : tile_(tile), window_(static_cast<std::int64_t>(window)), columns_(std::bit_ceil(window + 2 * block)) {
    std::memset(ring_, 0, (columns_ + block) * lanes);
  }

  /// Returns the column at `offset`. Those of the next 8 offsets follow it.
  HWY_INLINE const std::uint8_t* column(std::int64_t offset) const { return ring_ + slot(offset); }

  HWY_INLINE void load(std::int64_t offset) {
    begin_block(offset);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < parts; ++i) load_part(i);
  }
  /// Sets the block whose parts the next calls of `load_part` load, in order.
  HWY_INLINE void begin_block(std::int64_t offset) {
    const auto stride = static_cast<std::int64_t>(tile_.stride);
    block_ = tile_.first + (is_forward ? offset : stride - window_ - offset - (block - 1));
    slot_ = slot(offset);
  }
  /// Transposes a 4 x 4 part of the matrix: first of blocks of four rows, then of single rows.
  HWY_INLINE void load_part(std::size_t part) {
    const byte_tag d;
    const std::size_t first = part % 4;
    byte_vector rows[4];
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = first + 4 * i;
      rows[i] = part < 4 ? load_blocks(d, block_ + row * tile_.stride, tile_.stride) : hn::Load(d, half_ + row * lanes);
    }
    const byte_vector low02 = hn::InterleaveLower(d, rows[0], rows[2]);
    const byte_vector high02 = hn::InterleaveUpper(d, rows[0], rows[2]);
    const byte_vector low13 = hn::InterleaveLower(d, rows[1], rows[3]);
    const byte_vector high13 = hn::InterleaveUpper(d, rows[1], rows[3]);
    rows[0] = hn::InterleaveLower(d, low02, low13);
    rows[1] = hn::InterleaveUpper(d, low02, low13);
    rows[2] = hn::InterleaveLower(d, high02, high13);
    rows[3] = hn::InterleaveUpper(d, high02, high13);
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = 4 * first + i;
      hn::Store(rows[i], d, part < 4 ? half_ + row * lanes : ring_ + slot_ + (is_forward ? row : 15 - row) * lanes);
    }
    if (part == parts - 1 && slot_ == 0) std::memcpy(ring_ + columns_ * lanes, ring_, block * lanes);
  }

 private:
  static constexpr bool is_forward = direction == rolling_direction::forward;

  HWY_INLINE std::uint64_t slot(std::int64_t offset) const {
    return (static_cast<std::uint64_t>(offset) & (columns_ - 1)) * lanes;
  }

  const lane_tile& tile_;
  std::int64_t window_;
  std::uint64_t columns_;
  const std::uint8_t* block_ = nullptr;
  std::uint64_t slot_ = 0;
  alignas(lanes) std::uint8_t half_[block * lanes];                      ///< a block after half of its parts
  alignas(lanes) std::uint8_t ring_[(most_window + 3 * block) * lanes];  ///< ends with a copy of its first block
};

template <std::size_t plane_count, rolling_direction direction>
class linear_scanner final : public lane_scanner<linear_scanner<plane_count, direction>> {
 public:
  static constexpr std::uint64_t lane_count = lanes;
  static constexpr std::uint64_t loop_speedup = CUTPOINT_HAS_GFNI ? 5 : lanes / 16;

  linear_scanner(const linear_hash& hash, std::span<const masked_test> tests, masked_test filter)
      : hash_(hash), tests_(tests.begin(), tests.end()), filter_(filter) {}

  // On a Xeon of 3 GHz (Emerald Rapids), a step of the Rabin hash takes 20 cycles for 64 lanes with GFNI. Its 14
  // products use a port that the transposition does not use, so the next block is transposed between the steps.
  bool scan_lanes(const lane_tile& tile, candidate_bits& map) const {
    const byte_tag d;
    const maps reduce(hash_.reduce), exchange(hash_.exchange);
    column_ring<direction> columns(tile, hash_.window);
    const auto window = static_cast<std::int64_t>(hash_.window);
    columns.load(1 - window);
    for (std::int64_t at = -((window - 1) / block * block); at <= 0; at += block) columns.load(at);
    hash_planes hash;
    for (byte_vector& plane : hash.planes) plane = hn::Zero(d);
    for (std::int64_t at = 1 - window; at < 0; ++at) {
      step(hash, hn::Load(d, columns.column(at)), hn::Zero(d), reduce, exchange);
    }
    density_guard guard;
    const auto stride = static_cast<std::int64_t>(tile.stride);
    for (std::int64_t block_at = 0; block_at < stride; block_at += block) {
      columns.begin_block(std::min(block_at + block, stride - block));  // the last block is loaded twice
      tile.prefetch(static_cast<std::uint64_t>(block_at) * lane_count, block * lane_count);
      HWY_UNROLL(2)
      for (std::size_t half = 0; half < 2; ++half) {
        const std::int64_t at = block_at + static_cast<std::int64_t>(half * group);
        const std::uint8_t* const newest = columns.column(at);
        const std::uint8_t* const oldest = columns.column(at - window);
        hash_planes seen[group];
        byte_vector least = hn::Set(d, 0xff);
        HWY_UNROLL(8)
        for (std::size_t i = 0; i < group; ++i) {
          step(hash, hn::Load(d, newest + i * lanes), hn::Load(d, oldest + i * lanes), reduce, exchange);
          for (std::size_t plane = 0; plane < plane_count; ++plane) seen[i].planes[plane] = hash.planes[plane];
          least = hn::Min(least, filtered(hash));
          if (i % 2 != 0) columns.load_part((half * group + i) / 2);
        }
        if (hn::AllFalse(d, hn::Eq(least, hn::Zero(d)))) [[likely]]
          continue;
        const auto first = static_cast<std::uint64_t>(at);
        guard.found(mark(tile, first, seen, map));
        if (guard.is_exceeded((first + group) * lane_count)) return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::int64_t block = column_ring<direction>::block;
  static constexpr std::size_t group = 8;  ///< steps whose hashes are tested together
  static constexpr bool is_forward = direction == rolling_direction::forward;

  struct maps {
    HWY_INLINE explicit maps(const byte_map& map) {
      for (std::size_t i = 0; i < plane_count; ++i) planes[i].set(map, i);
    }
    plane_map planes[plane_count];
  };
  struct hash_planes {
    byte_vector planes[plane_count];
  };

  static HWY_INLINE void step(hash_planes& hash, byte_vector newest, byte_vector oldest, const maps& reduce,
                              const maps& exchange) {
    const map_argument last = argument_of(hn::Xor(hash.planes[0], is_forward ? newest : oldest));
    const map_argument before = argument_of(is_forward ? oldest : newest);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < plane_count; ++i) {
      const byte_vector next = i + 1 < plane_count ? hash.planes[i + 1] : hn::Zero(byte_tag());
      hash.planes[i] = hn::Xor3(next, reduce.planes[i](last), exchange.planes[i](before));
    }
  }

  /// Returns zeros for the lanes whose hash the filter accepts.
  HWY_INLINE byte_vector filtered(const hash_planes& hash) const {
    const byte_tag d;
    const byte_vector pattern = hn::Set(d, static_cast<std::uint8_t>(filter_.pattern));
    const byte_vector mask = hn::Set(d, static_cast<std::uint8_t>(filter_.mask));
    const byte_vector next_mask = hn::Set(d, static_cast<std::uint8_t>(filter_.mask >> 8));
    return hn::OrAnd(hn::And(hn::Xor(hash.planes[0], pattern), mask), hash.planes[1], next_mask);
  }

  /// Marks the candidates among the hashes of a group. Returns the number of hashes that the filter accepts.
  HWY_NOINLINE std::uint64_t mark(const lane_tile& tile, std::uint64_t begin, const hash_planes* hashes,
                                  candidate_bits& map) const {
    const byte_tag d;
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < group; ++i) {
      std::uint64_t accepted = 0;
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::Eq(filtered(hashes[i]), hn::Zero(d)), bits);
      std::memcpy(&accepted, bits, sizeof(accepted));
      const std::uint64_t first = tile.position + (is_forward ? begin + i : tile.stride - 1 - (begin + i));
      for (; accepted != 0; accepted &= accepted - 1, ++count) {
        const auto lane = static_cast<std::uint64_t>(std::countr_zero(accepted));
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(hashes[i].planes) + lane;
        std::uint64_t hash = 0;
        for (std::size_t plane = plane_count; plane-- > 0;) hash = (hash << 8) | bytes[plane * lanes];
        for (std::size_t level = 0; level < tests_.size(); ++level) {
          if (tests_[level](hash)) map.mark(first + lane * tile.stride, level);
        }
      }
    }
    return count;
  }

  linear_hash hash_;
  std::vector<masked_test> tests_;
  masked_test filter_;
};

std::unique_ptr<const candidate_scanner> make_linear_scan(const linear_hash& hash, std::span<const masked_test> tests,
                                                          masked_test filter) {
  if (hash.window > column_ring<rolling_direction::forward>::most_window) return nullptr;
  if (hash.direction == rolling_direction::forward) {
    return std::make_unique<linear_scanner<4, rolling_direction::forward>>(hash, tests, filter);
  }
  return std::make_unique<linear_scanner<7, rolling_direction::backward>>(hash, tests, filter);
}
