// The inputs of the golden cuts, made as tests/data/README.md says.
#pragma once

#include <string_view>

#include <cutpoint/bytes.h>

namespace cutpoint::tests {

/// D1, D2 or D3; made at the first call, kept until the end.
[[nodiscard]] byte_span golden_input(std::string_view name);

}  // namespace cutpoint::tests
