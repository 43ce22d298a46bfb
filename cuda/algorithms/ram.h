// Rapid asymmetric maximum, `ram`: a chunk ends at the first byte after the window that is not smaller than the
// window's maximum.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/warp_search.h"

namespace cutpoint::cuda {

struct ram_cut_finder {
  std::uint64_t window = 0;
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    if (length <= window) return start + length;
    const std::uint32_t largest = largest_in(warp, in, start, start + window);
    const std::uint64_t end = start + length;
    const std::uint64_t match = find_reaching(warp, in, 0, largest, start + window, end);
    return match < end ? match + 1 : end;
  }
};

using ram_specification = walking_specification<ram_cut_finder>;

}  // namespace cutpoint::cuda
