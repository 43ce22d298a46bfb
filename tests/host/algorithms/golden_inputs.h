// The inputs of the golden cuts, made as tests/data/README.md describes.
#pragma once

#include <string_view>

#include <cutpoint/bytes.h>

namespace cutpoint::tests {

/// Returns D1, D2 or D3. It is made by the first call and kept until the program ends.
[[nodiscard]] byte_span golden_input(std::string_view name);

}  // namespace cutpoint::tests
