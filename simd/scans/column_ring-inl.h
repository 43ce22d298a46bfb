// Columns of a tile, for one instruction set: each vector has one byte of each lane. Scans include it in the namespace
// of each set, after the alias `hn`.

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
