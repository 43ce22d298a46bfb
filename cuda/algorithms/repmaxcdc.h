// The profile `repmaxcdc`: it cuts at the first of the largest gear hashes, and searches again before that cut as long
// as two chunks fit.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

struct repmaxcdc_cut_finder {
  const std::uint64_t* table = nullptr;  ///< 256 entries
  std::uint64_t min = 0;                 ///< at least the window
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t visible = least(reach, range.end - start);
    if (visible < 2 * min) return start + visible;
    std::uint64_t chosen = visible;
    while (chosen - min >= min) chosen = first_largest(warp, in, start + min - 1, start + chosen - min) + 1 - start;
    return start + chosen;
  }

 private:
  static constexpr std::uint32_t window = 64;
  static constexpr std::uint32_t run_bytes = 256;  ///< bytes that a lane hashes in a row, after a window of warm-up

  /// Returns the position in [first, last) at which the window with the largest hash ends, the first of several equal
  /// ones.
  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t first_largest(const Warp& warp, const packed_bytes& in,
                                                            std::uint64_t first, std::uint64_t last) const {
    auto best = warp.template per_lane<ranked<std::uint64_t>>({0, first});  // the result if all hashes are 0
    for (std::uint64_t base = first / lane_load_bytes * lane_load_bytes; base < last; base += warp_size * run_bytes) {
      warp.for_each_lane([&](std::uint32_t lane) { hash_run(in, base + lane * run_bytes, first, last, best[lane]); });
    }
    return warp_first_max<std::uint64_t>(warp, best).position;
  }

  /// Hashes a run from the aligned position `begin` on and updates `best`. Positions before the buffer are huge
  /// numbers.
  CUTPOINT_DEVICE void hash_run(const packed_bytes& in, std::uint64_t begin, std::uint64_t first, std::uint64_t last,
                                ranked<std::uint64_t>& best) const {
    if (begin >= last) return;
    const offsets sought = offsets::of(begin, run_bytes, first, last);
    const std::uint64_t end = begin + sought.last;
    std::uint64_t hash = 0;
    std::uint32_t index = run_bytes;
    // The first vector may lie before the first window, and before the stream range.
    bytes16 next = begin + lane_load_bytes > first + 1 ? load_vector(in, begin - window, end) : bytes16{};
    for (std::uint32_t read = 0; read < window + sought.last; read += lane_load_bytes) {
      const bytes16 vector = next;
      next = load_vector(in, begin - window + read + lane_load_bytes, end);
      const std::uint32_t bits = read < window ? 0 : sought.among_sixteen(read - window);
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < lane_load_bytes; ++i) {
        hash = 2 * hash + table[vector.byte(i)];
        if ((bits >> i & 1) == 0 || hash <= best.value) continue;
        best.value = hash;
        index = read - window + i;
      }
    }
    if (index != run_bytes) best.position = begin + index;
  }
};

using repmaxcdc_specification = walking_specification<repmaxcdc_cut_finder>;

}  // namespace cutpoint::cuda
