// What the naive rules share: how long a chunk may be.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cutpoint::naive {

/// min(max, remaining), where a maximum of 0 is none.
inline std::uint64_t longest_chunk(std::uint64_t max_bytes, std::uint64_t remaining) {
  return max_bytes == 0 ? remaining : std::min(max_bytes, remaining);
}

}  // namespace cutpoint::naive
