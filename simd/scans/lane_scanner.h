// The base of candidate scanners: lanes that begin at equal distances in a tile, and what they do around their loop.
//
// A tile of a stream is split into as many byte ranges of equal length as the kernel has lanes:
//
//   first          + stride       + 2 stride            last
//   |--------------|--------------|---- ... -------------|
//   lane 0 ->      lane 1 ->      lane 2 ->              each lane warms up on the bytes before its range
//
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <cutpoint/cut_kernel.h>

namespace cutpoint::simd {

/// The bytes that lanes read at a time, a cache line.
inline constexpr std::uint64_t column_bytes = 64;

/// The steps of a lane whose hashes are tested together.
inline constexpr std::size_t group_steps = 8;

/// Which way a scan leads through the bytes of a lane.
enum class rolling_direction { forward, backward };

/// The longest window of the hashes whose scans keep the bytes of the window: 512 bytes with two blocks of columns.
inline constexpr std::uint64_t longest_window = 480;

/// The bytes of one call of `scan_lanes`: lane k scans [first + k * stride, first + (k + 1) * stride). `stride` is a
/// multiple of `column_bytes`.
struct lane_tile {
  const std::uint8_t* first;
  std::uint64_t stride;
  const std::uint8_t* next;      ///< what is scanned next, to be prefetched
  const std::uint8_t* next_end;  ///< not after the end of the visible bytes
  std::uint64_t position;        ///< of `first` in the map

  /// Prefetches `count` bytes of the next tile from byte `begin` on, both multiples of a line.
  void prefetch(std::uint64_t begin, std::uint64_t count) const {
    for (const std::uint8_t* line = next + begin; count != 0; count -= column_bytes, line += column_bytes) {
      if (line < next_end) __builtin_prefetch(line, 0, 2);
    }
  }
};

/// Counts the candidates of a scan, and tells whether they are too dense: each costs as much as some hundred positions.
class density_guard {
 public:
  /// `speedup` is that of the scanner without candidates; `candidate_cost` is in scanned positions.
  density_guard(double speedup, std::uint64_t candidate_cost) : cost_(candidate_cost), most_cost_(speedup - 1) {}

  /// Returns whether a scan is worthwhile in random bytes with this mean distance between candidates.
  [[nodiscard]] bool is_worthwhile(double mean_distance) const {
    return mean_distance * most_cost_ >= 1.25 * static_cast<double>(cost_);
  }
  void add_candidates(std::uint64_t count) { candidates_ += count; }
  void end_tile(std::uint64_t positions) { scanned_ += positions; }
  /// `positions_of_tile` are those of the present tile that were scanned.
  [[nodiscard]] bool is_exceeded(std::uint64_t positions_of_tile) const {
    constexpr std::uint64_t allowed = 48;
    const std::uint64_t counted = candidates_ - std::min(candidates_, allowed);
    return static_cast<double>(counted * cost_) > most_cost_ * static_cast<double>(scanned_ + positions_of_tile);
  }
  /// Returns how many positions without candidates take as long as all tiles.
  [[nodiscard]] std::uint64_t work() const { return scanned_ + candidates_ * cost_; }

 private:
  std::uint64_t cost_;
  double most_cost_;  ///< of the candidates at each position
  std::uint64_t scanned_ = 0;
  std::uint64_t candidates_ = 0;
};

/// Returns a guard for a scanner or a hash, which says its speedup and what a candidate costs.
template <class Scan>
density_guard guard_of() {
  return {Scan::loop_speedup, Scan::candidate_cost};
}

/// The base of scanners. `Scanner` has `lane_count`, `loop_speedup`, `candidate_cost`, and scan_lanes(const lane_tile&,
/// density_guard&, candidate_bits&), which returns false if candidates are too dense.
template <class Scanner>
class lane_scanner : public candidate_scanner {
 public:
  [[nodiscard]] std::uint64_t least_count() const noexcept final { return least_columns * row_bytes; }
  [[nodiscard]] double speedup() const noexcept final { return Scanner::loop_speedup; }

  [[nodiscard]] std::optional<std::uint64_t> scan(byte_span bytes, std::uint64_t first, std::uint64_t last,
                                                  std::uint64_t position, candidate_bits& map) const noexcept final {
    density_guard guard = guard_of<Scanner>();
    const std::uint64_t columns = columns_of(last - first);
    const std::uint8_t* const begin = bytes.data() + first;
    const std::uint8_t* const end = bytes.data() + last;
    for (const std::uint8_t* next = begin; next != end;) {
      // The last tile overlaps the one before it.
      const std::uint8_t* const tile = std::min(next, end - columns * row_bytes);
      next = tile + columns * row_bytes;
      const lane_tile lanes{.first = tile,
                            .stride = columns * column_bytes,
                            .next = next,
                            .next_end = bytes.data() + bytes.size(),
                            .position = position + static_cast<std::uint64_t>(tile - begin)};
      if (!static_cast<const Scanner*>(this)->scan_lanes(lanes, guard, map)) return std::nullopt;
      guard.end_tile(columns * row_bytes);
    }
    return guard.work();
  }

 private:
  static constexpr std::uint64_t row_bytes = Scanner::lane_count * column_bytes;
  static constexpr std::uint64_t least_columns = 4;
  /// A tile has about 256 KiB, so that the prefetched next one fits beside it into a second-level cache.
  static constexpr std::uint64_t most_columns = 256 * KiB / row_bytes + 1;

  /// Returns the columns of each tile of a range. Their number is odd: lanes that are a multiple of 4 KiB apart would
  /// compete for the same sets of the first-level cache, which costs a third of the speed.
  static std::uint64_t columns_of(std::uint64_t count) {
    const auto tile_columns = [count](std::uint64_t tiles) { return (count - 1) / (tiles * row_bytes) + 1; };
    std::uint64_t tiles = (count - 1) / (most_columns * row_bytes) + 1;
    while ((tile_columns(tiles) | 1) * row_bytes > count) ++tiles;
    return tile_columns(tiles) | 1;
  }
};

}  // namespace cutpoint::simd
