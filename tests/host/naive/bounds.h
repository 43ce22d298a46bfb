// The length limit that the naive rules share.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cutpoint::naive {

/// Returns the smaller of `max_bytes` and `remaining`; a `max_bytes` of 0 means no maximum.
inline std::uint64_t longest_chunk(std::uint64_t max_bytes, std::uint64_t remaining) {
  return max_bytes == 0 ? remaining : std::min(max_bytes, remaining);
}

}  // namespace cutpoint::naive
