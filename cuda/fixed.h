// Fixed-size chunks.
#pragma once

#include <vector>

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

struct fixed_scheme {
  static constexpr std::uint32_t levels = 0;
  std::vector<std::uint64_t> table = {};
  scheme_sizes sizes;
  fixed_cutter chunks;

  [[nodiscard]] fixed_cutter cutter(const std::uint64_t*) const { return chunks; }
};

}  // namespace cutpoint::cuda
