// Random valid parameters of each algorithm, as small as its bounds allow: then short streams reach every limit.
#pragma once

#include <variant>

#include <cutpoint/algorithms.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

inline constexpr std::size_t algorithm_count = std::variant_size_v<algorithm_parameters>;

/// Draws parameters of the alternative with index `which`. Fields that have a default may be left out.
[[nodiscard]] algorithm_parameters tiny_parameters(std::size_t which, choices& random);

}  // namespace cutpoint::tests
