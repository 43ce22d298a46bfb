// What buffers of a batch take together.
#pragma once

#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

/// Of one buffer, or sums over several.
struct buffer_totals {
  std::uint64_t bytes = 0;
  std::uint64_t pages = 0;
  std::uint64_t partitions = 0;
  std::uint64_t slots = 0;
  std::uint64_t refused = 0;  ///< buffers with more bytes than the bounds allow, which count nowhere else

  friend CUTPOINT_HOST_DEVICE buffer_totals operator+(const buffer_totals& a, const buffer_totals& b) {
    return {a.bytes + b.bytes, a.pages + b.pages, a.partitions + b.partitions, a.slots + b.slots,
            a.refused + b.refused};
  }
};

}  // namespace cutpoint::cuda
