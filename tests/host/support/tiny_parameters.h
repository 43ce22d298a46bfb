// Random valid parameters of each algorithm, as small as its bounds allow, so that short streams meet every limit.
#pragma once

#include <variant>

#include <cutpoint/algorithms.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

inline constexpr std::size_t algorithm_count = std::variant_size_v<algorithm_parameters>;

/// Parameters of the alternative `which`; what has a default may be left out.
[[nodiscard]] algorithm_parameters tiny_parameters(std::size_t which, choices& random);

}  // namespace cutpoint::tests
