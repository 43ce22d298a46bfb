// Random valid parameters whose sizes are near the ends of vectors, words, blocks of vectors and parts of streams.
#pragma once

#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::tests {

/// Draws parameters of the alternative with index `which`. They are those of `tiny_parameters`, or larger ones if the
/// algorithm has kernels.
[[nodiscard]] algorithm_parameters kernel_parameters(std::size_t which, choices& random);

}  // namespace cutpoint::tests
