// The shortest and longest chunks that an algorithm may make.
#pragma once

#include <cutpoint/algorithms.h>

namespace cutpoint::tests {

struct chunk_limits {
  /// The shortest length of a chunk but the last of its stream.
  std::uint64_t shortest = 1;
  /// The longest length of a chunk.
  std::uint64_t longest = 0;
};

/// Returns the limits for parameters with no field left out.
[[nodiscard]] chunk_limits limits_of(const algorithm_parameters& parameters);

}  // namespace cutpoint::tests
