// How short and how long the chunks of an algorithm may be.
#pragma once

#include <cutpoint/algorithms.h>

namespace cutpoint::tests {

struct chunk_limits {
  /// Of every chunk but the last of its stream.
  std::uint64_t shortest = 1;
  /// Of every chunk.
  std::uint64_t longest = 0;
};

/// From parameters none of which is left out.
[[nodiscard]] chunk_limits limits_of(const algorithm_parameters& parameters);

}  // namespace cutpoint::tests
