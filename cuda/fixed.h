// Fixed-size chunks.
#pragma once

#include "cuda/packed.h"
#include "cuda/scheme.h"

namespace cutpoint::cuda {

struct fixed_cutter {
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t cut(const Warp&, const packed_bytes&, const piece& of,
                                                  std::uint64_t start) const {
    return start + least(reach, of.end - start);
  }
};

using fixed_scheme = walking_scheme<fixed_cutter>;

}  // namespace cutpoint::cuda
