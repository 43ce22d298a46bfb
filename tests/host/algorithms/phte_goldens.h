// Known cuts of the algorithms that AES decides, as Borg 2 and another implementation of their definition made them
// (tests/data).
#pragma once

#include <string>
#include <vector>

#include <cutpoint/chunker.h>

namespace cutpoint::tests {

/// Returns how many cases there are.
[[nodiscard]] std::size_t phte_golden_count();

/// Makes the chunker of a case, with the reference.
[[nodiscard]] chunker phte_golden_chunker(std::size_t number);

/// Returns a description of how `cuts` cuts the input of a case differently, or an empty string.
[[nodiscard]] std::string phte_golden_fault(std::size_t number, const chunker& cuts);

}  // namespace cutpoint::tests
