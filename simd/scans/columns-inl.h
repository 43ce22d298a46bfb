// Columns of a tile, and the scan by columns, for one instruction set: each vector has one byte of each lane. Scans include
// it in the namespace of each set, after the alias `hn`.

using byte_tag = hn::ScalableTag<std::uint8_t>;
using byte_vector = hn::VFromD<byte_tag>;
inline constexpr std::size_t lanes = hn::MaxLanes(byte_tag());

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

/// Columns in the direction of rolling. A column's offset is 0 if it is the last of the first window that is tested.
/// Columns that have not been loaded are zeros.
template <rolling_direction direction>
class column_ring {
 public:
  static constexpr std::int64_t block = 16;     ///< columns that are loaded together
  static constexpr std::size_t load_steps = 8;  ///< of loading a block

  /// Keeps two blocks, and at least `kept` columns before them.
  HWY_INLINE column_ring(const lane_tile& tile, std::uint64_t window, std::uint64_t window_columns)
      : tile_(tile), window_(static_cast<std::int64_t>(window)), columns_(std::bit_ceil(window_columns + 2 * block)) {
    std::memset(ring_, 0, (columns_ + block) * lanes);
  }

  /// Returns the column at `offset`. Those of the next 8 offsets follow it.
  HWY_INLINE const std::uint8_t* column(std::int64_t offset) const { return ring_ + slot(offset); }

  HWY_INLINE void load(std::int64_t offset) {
    begin_block(offset);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < load_steps; ++i) load_step(i);
  }
  /// Sets the block that the next calls of `load_step` load, in order.
  HWY_INLINE void begin_block(std::int64_t offset) {
    const auto stride = static_cast<std::int64_t>(tile_.stride);
    block_ = tile_.first + (is_forward ? offset : stride - window_ - offset - (block - 1));
    slot_ = slot(offset);
  }
  /// Transposes a 4 x 4 part of the matrix: first of blocks of four rows, then of single rows.
  HWY_INLINE void load_step(std::size_t step) {
    const byte_tag d;
    const std::size_t first = step % 4;
    std::uint8_t* const destination = step < 4 ? half_ : ring_ + slot_;  // read once: bytes may alias members
    const bool is_mirrored = step >= 4 && !is_forward;
    byte_vector rows[4];
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = first + 4 * i;
      rows[i] = step < 4 ? load_blocks(d, block_ + row * tile_.stride, tile_.stride) : hn::Load(d, half_ + row * lanes);
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
      hn::Store(rows[i], d, destination + (is_mirrored ? block - 1 - row : row) * lanes);
    }
    if (step == load_steps - 1 && slot_ == 0) std::memcpy(ring_ + columns_ * lanes, ring_, block * lanes);
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
  alignas(lanes) std::uint8_t half_[block * lanes];                         ///< a block after half of its steps
  alignas(lanes) std::uint8_t ring_[(longest_window + 3 * block) * lanes];  ///< ends with a copy of its first block
};

/// Eight steps of one lane. Step i rolls the byte `newest[i * lanes]` in and `oldest[i * lanes]` out.
struct lane_group {
  const std::uint8_t* newest;
  const std::uint8_t* oldest;
  const std::uint8_t* last;  ///< the last byte of the window of step 0
};

/// The history of hashes that need only the columns of the window.
struct no_history {
  explicit no_history(std::uint64_t) {}
};

/// The scanner of a rolling hash with `lanes` byte ranges of a tile side by side. `Hash` has
///
///   direction      whether the hash rolls forward or backward
///   loop_speedup   how many times as fast as the kernel's loop the scan is, at least, without candidates
///   candidate_cost   what a candidate costs, in scanned positions
///   state          vectors with the hashes of all lanes
///   filter         what is known of the hashes of a group of steps: whether some in a lane may be accepted
///   history        memory for the steps of a window, made of its length
///   steps          made of the hash and a history, for one tile; begin() returns the hashes of no bytes; begin_group(state) returns
///                  a filter and comes before each group; roll(state, filter, step, newest, oldest) adds the column
///                  `newest`, removes `oldest`, and tests the hashes of step 0 to 7 of the group
///   window()       bytes
///   is_any_accepted(filter), accepted(filter)  the lanes that have hashes that may be accepted, as bits
///   words(state, lane, group, words)  the hashes of the eight steps of a lane, from the state before them
///
/// For warm-up, zeros are rolled out, and up to 15 columns of zeros are rolled in first. `Test` decides for each
/// level whether a hash makes the position a candidate.
template <class Hash, class Test>
class column_scanner final : public lane_scanner<column_scanner<Hash, Test>> {
 public:
  static constexpr std::uint64_t lane_count = lanes;
  static constexpr double loop_speedup = Hash::loop_speedup;
  static constexpr std::uint64_t candidate_cost = Hash::candidate_cost;

  column_scanner(const Hash& hash, std::span<const Test> tests) : hash_(hash), tests_(tests.begin(), tests.end()) {}

  bool scan_lanes(const lane_tile& tile, density_guard& guard, candidate_bits& map) const {
    const byte_tag d;
    typename Hash::history history(hash_.window());
    const typename Hash::steps steps(hash_, history);
    const auto window = static_cast<std::int64_t>(hash_.window());
    ring columns(tile, hash_.window(), std::is_same_v<typename Hash::history, no_history> ? hash_.window() : 0);
    typename Hash::state state = steps.begin();
    for (std::int64_t at = -((window + block - 2) / block * block); at < 0; at += group) {
      if (at % block == 0) columns.load(std::max(at, 1 - window));
      typename Hash::filter ignored = steps.begin_group(state);
      const std::uint8_t* const newest = columns.column(at);
      HWY_UNROLL(1)
      for (std::size_t i = 0; i < group_steps; ++i)
        steps.roll(state, ignored, i, hn::Load(d, newest + i * lanes), hn::Zero(d));
    }
    columns.load(0);
    const auto stride = static_cast<std::int64_t>(tile.stride);
    for (std::int64_t block_at = 0; block_at < stride; block_at += block) {
      columns.begin_block(std::min(block_at + block, stride - block));  // the last block is loaded twice
      tile.prefetch(static_cast<std::uint64_t>(block_at) * lane_count, block * lane_count);
      HWY_UNROLL(2)
      for (std::size_t half = 0; half < 2; ++half) {
        const std::int64_t at = block_at + static_cast<std::int64_t>(half * group_steps);
        const std::uint8_t* const newest = columns.column(at);
        const std::uint8_t* const oldest = columns.column(at - window);
        typename Hash::filter filter = steps.begin_group(state);
        const typename Hash::state before = state;
        HWY_UNROLL(8)
        for (std::size_t i = 0; i < group_steps; ++i) {
          steps.roll(state, filter, i, hn::Load(d, newest + i * lanes), hn::Load(d, oldest + i * lanes));
          // The next block is transposed between the steps, since products and transpositions use different ports.
          if (i % 2 != 0) columns.load_step((half * group_steps + i) / 2);
        }
        if (!hash_.is_any_accepted(filter)) [[likely]]
          continue;
        const auto first = static_cast<std::uint64_t>(at);
        guard.add_candidates(mark(tile, first, before, hash_.accepted(filter), newest, oldest, map));
        if (guard.is_exceeded((first + group_steps) * lane_count)) return false;
      }
    }
    return true;
  }

 private:
  using ring = column_ring<Hash::direction>;
  static constexpr std::int64_t block = ring::block;
  static constexpr auto group = static_cast<std::int64_t>(group_steps);

  /// Marks the candidates of a group of steps, all of which are in the `accepted` lanes. Returns the number of lanes.
  HWY_NOINLINE std::uint64_t mark(const lane_tile& tile, std::uint64_t first_step, const typename Hash::state& before,
                                  std::uint64_t accepted, const std::uint8_t* newest, const std::uint8_t* oldest,
                                  candidate_bits& map) const {
    constexpr bool is_forward = Hash::direction == rolling_direction::forward;
    const std::uint64_t offset = is_forward ? first_step : tile.stride - 1 - first_step;
    const auto count = static_cast<std::uint64_t>(std::popcount(accepted));
    for (; accepted != 0; accepted &= accepted - 1) {
      const auto lane = static_cast<std::uint64_t>(std::countr_zero(accepted));
      const std::uint64_t first = lane * tile.stride + offset;
      std::uint64_t words[group_steps];
      hash_.words(before, lane, {newest + lane, oldest + lane, tile.first + first}, words);
      for (std::uint64_t i = 0; i < group_steps; ++i) {
        const std::uint64_t position = tile.position + (is_forward ? first + i : first - i);
        for (std::size_t level = 0; level < tests_.size(); ++level) {
          if (tests_[level](words[i])) map.mark(position, level);
        }
      }
    }
    return count;
  }

  Hash hash_;
  std::vector<Test> tests_;
};
