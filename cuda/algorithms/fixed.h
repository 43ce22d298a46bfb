// Fixed-size chunks.
#pragma once

#include "cuda/cut/specification.h"
#include "cuda/kernel/packed_bytes.h"

namespace cutpoint::cuda {

struct fixed_cut_finder {
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp&, const packed_bytes&, const stream_range& range,
                                                       std::uint64_t start) const {
    return start + least(reach, range.end - start);
  }
};

using fixed_specification = walking_specification<fixed_cut_finder>;

}  // namespace cutpoint::cuda
