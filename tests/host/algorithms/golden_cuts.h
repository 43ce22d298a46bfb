// Known cuts of the golden inputs (tests/data): their count, their first lengths, and the SHA-256 of all lengths as lines.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/chunker.h>

namespace cutpoint::tests {

/// The names of the entries.
[[nodiscard]] std::vector<std::string> golden_names();

/// What an entry asks for, by the reference.
[[nodiscard]] result<chunker> golden_chunker(const std::string& name);

/// The inputs whose cuts an entry has.
[[nodiscard]] std::vector<std::string> golden_inputs_of(const std::string& name);

/// `cuts` cuts an input otherwise than the entry says. Empty: as it says.
[[nodiscard]] std::string golden_fault(const std::string& name, const std::string& input, const chunker& cuts);

/// An input has other bytes than those that were cut.
[[nodiscard]] std::string golden_input_fault(const std::string& input);

}  // namespace cutpoint::tests
