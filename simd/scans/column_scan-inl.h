// The scan of a tile by columns, for one instruction set. Scans include it in the namespace of each set, after
// `column_ring-inl.h`.

/// The scanner of a rolling hash with `lanes` byte ranges of a tile side by side. `Hash` has
///
///   direction      whether the hash rolls forward or backward
///   loop_speedup   how many times as fast as the kernel's loop the scan is, at least
///   state          vectors with the hashes of all lanes
///   steps          made of the hash, for one tile; begin() returns the hashes of no bytes; roll(state, offset, newest,
///                  oldest) adds the column `newest` at an offset and removes `oldest`
///   window()       bytes
///   least_of_none(), merge(least, state), is_any_accepted(least)
///                  whether some hashes may be accepted, for several states at once
///   accepted(state)  the lanes whose hash may be accepted, as bits
///   word(state, lane, last)  the hash of one lane; `last` is the last byte of its window
///
/// Where a hash is accepted, the tests decide for each level whether the position is a candidate.
template <class Hash>
class column_scanner final : public lane_scanner<column_scanner<Hash>> {
 public:
  static constexpr std::uint64_t lane_count = lanes;
  static constexpr double loop_speedup = Hash::loop_speedup;

  column_scanner(const Hash& hash, std::span<const masked_test> tests)
      : hash_(hash), tests_(tests.begin(), tests.end()) {}

  bool scan_lanes(const lane_tile& tile, candidate_bits& map) const {
    const byte_tag d;
    typename Hash::steps steps(hash_);
    const auto window = static_cast<std::int64_t>(hash_.window());
    ring columns(tile, hash_.window());
    columns.load(1 - window);
    for (std::int64_t at = -((window - 1) / block * block); at <= 0; at += block) columns.load(at);
    typename Hash::state state = steps.begin();
    for (std::int64_t at = 1 - window; at < 0; ++at)
      steps.roll(state, at, hn::Load(d, columns.column(at)), hn::Zero(d));
    density_guard guard(loop_speedup);
    const auto stride = static_cast<std::int64_t>(tile.stride);
    for (std::int64_t block_at = 0; block_at < stride; block_at += block) {
      columns.begin_block(std::min(block_at + block, stride - block));  // the last block is loaded twice
      tile.prefetch(static_cast<std::uint64_t>(block_at) * lane_count, block * lane_count);
      HWY_UNROLL(2)
      for (std::size_t half = 0; half < 2; ++half) {
        const std::int64_t at = block_at + static_cast<std::int64_t>(half * group);
        const std::uint8_t* const newest = columns.column(at);
        const std::uint8_t* const oldest = columns.column(at - window);
        typename Hash::state seen[group];
        auto least = hash_.least_of_none();
        HWY_UNROLL(8)
        for (std::size_t i = 0; i < group; ++i) {
          steps.roll(state, at + static_cast<std::int64_t>(i), hn::Load(d, newest + i * lanes),
                     hn::Load(d, oldest + i * lanes));
          seen[i] = state;
          least = hash_.merge(least, state);
          // The next block is transposed between the steps, since products and transpositions use different ports.
          if (i % 2 != 0) columns.load_part((half * group + i) / 2);
        }
        if (!hash_.is_any_accepted(least)) [[likely]]
          continue;
        const auto first = static_cast<std::uint64_t>(at);
        guard.found(mark(tile, first, seen, map));
        if (guard.is_exceeded((first + group) * lane_count)) return false;
      }
    }
    return true;
  }

 private:
  using ring = column_ring<Hash::direction>;
  static constexpr std::int64_t block = ring::block;
  static constexpr std::size_t group = 8;  ///< steps whose hashes are tested together

  /// Marks the candidates among the hashes of a group. Returns the number of hashes that may be accepted.
  HWY_NOINLINE std::uint64_t mark(const lane_tile& tile, std::uint64_t first_step, const typename Hash::state* states,
                                  candidate_bits& map) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < group; ++i) {
      const bool is_forward = Hash::direction == rolling_direction::forward;
      const std::uint64_t offset = is_forward ? first_step + i : tile.stride - 1 - (first_step + i);
      for (std::uint64_t accepted = hash_.accepted(states[i]); accepted != 0; accepted &= accepted - 1, ++count) {
        const auto lane = static_cast<std::uint64_t>(std::countr_zero(accepted));
        const std::uint64_t position = lane * tile.stride + offset;
        const std::uint64_t word = hash_.word(states[i], lane, tile.first + position);
        for (std::size_t level = 0; level < tests_.size(); ++level) {
          if (tests_[level](word)) map.mark(tile.position + position, level);
        }
      }
    }
    return count;
  }

  Hash hash_;
  std::vector<masked_test> tests_;
};
