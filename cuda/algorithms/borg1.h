// The profile `borg1`: a buzhash whose window lies after the cut.
#pragma once

#include "cuda/algorithms/buzhash.h"

namespace cutpoint::cuda {

/// Cuts before the window of the first candidate that leaves at least `first` bytes before the window. A window that
/// ends with the last visible byte does not count.
struct window_after_cut_finder {
  std::uint64_t first = 0;  ///< the shortest chunk whose end is tested
  std::uint64_t window = 0;
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t end = start + least(reach, range.end - start);
    if (range.end - start < first + window + 1) return range.end;
    const std::uint64_t match = next_candidate(warp, in, 0, start + first + window - 1, end - 1);
    return match != end - 1 ? match + 1 - window : end;
  }
};

using borg1_specification =
    rolling_specification<rolling_buzhash, zeros_test<std::uint32_t>, 1, window_after_cut_finder>;

}  // namespace cutpoint::cuda
