// Random valid parameters whose sizes lie where vectors, words, blocks of vectors and parts of streams end.
#pragma once

#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::tests {

/// Parameters of the alternative `which`: as `tiny_parameters`, or larger, where that algorithm has kernels.
[[nodiscard]] algorithm_parameters kernel_parameters(std::size_t which, choices& random);

}  // namespace cutpoint::tests
