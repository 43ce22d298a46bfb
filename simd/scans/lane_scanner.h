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

#include <cutpoint/cut_kernel.h>

namespace cutpoint::simd {

/// The bytes that lanes read at a time, a cache line.
inline constexpr std::uint64_t column_bytes = 64;

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

  /// Prefetches the lines of the next tile that correspond to one column of this one.
  void prefetch_column(std::uint64_t lane_count, std::uint64_t column) const {
    prefetch(column * lane_count, lane_count * column_bytes);
  }
  /// Prefetches `count` bytes of the next tile from byte `begin` on, both multiples of a line.
  void prefetch(std::uint64_t begin, std::uint64_t count) const {
    for (const std::uint8_t* line = next + begin; count != 0; count -= column_bytes, line += column_bytes) {
      if (line < next_end) __builtin_prefetch(line, 0, 2);
    }
  }
};

/// Counts candidates against positions, and tells whether they are too dense for vectors: each costs as much as the
/// vector loop over one or two hundred positions.
class density_guard {
 public:
  /// `speedup` is that of the scanner, without candidates; `candidate_cost` is in positions.
  explicit density_guard(double speedup, double candidate_cost = 100)
      : least_distance_(std::max(96.0, candidate_cost / (speedup - 1))) {}

  void found(std::uint64_t count) { candidates_ += count; }
  [[nodiscard]] bool is_exceeded(std::uint64_t scanned_positions) const {
    return static_cast<double>(candidates_) > 64 + static_cast<double>(scanned_positions) / least_distance_;
  }

 private:
  double least_distance_;
  std::uint64_t candidates_ = 0;
};

/// The base of scanners. `Scanner` has `lane_count`, `loop_speedup`, and scan_lanes(const lane_tile&,
/// candidate_bits&), which returns false if candidates are too dense.
template <class Scanner>
class lane_scanner : public candidate_scanner {
 public:
  [[nodiscard]] std::uint64_t least_count() const noexcept final { return least_columns * row_bytes; }
  [[nodiscard]] double speedup() const noexcept final { return Scanner::loop_speedup; }

  [[nodiscard]] bool scan(byte_span bytes, std::uint64_t first, std::uint64_t last, std::uint64_t position,
                          candidate_bits& map) const noexcept final {
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
      if (!static_cast<const Scanner*>(this)->scan_lanes(lanes, map)) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint64_t row_bytes = Scanner::lane_count * column_bytes;
  static constexpr std::uint64_t least_columns = 8;
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
