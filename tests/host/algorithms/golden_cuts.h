// Known cuts of the golden inputs (tests/data): their count, their first lengths, and the SHA-256 of all lengths as
// lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>

namespace cutpoint::tests {

/// Returns the folder with the known cuts. CUTPOINT_TEST_DATA names another, for a program that
/// was copied to another machine.
[[nodiscard]] std::string golden_folder();

/// Returns the names of the entries.
[[nodiscard]] std::vector<std::string> golden_names();

/// Makes the chunker that an entry requests, with the reference.
[[nodiscard]] result<chunker> golden_chunker(const std::string& name);

/// Returns the inputs whose cuts an entry has.
[[nodiscard]] std::vector<std::string> golden_inputs_of(const std::string& name);

/// Returns the first lengths that an entry has for an input.
[[nodiscard]] std::vector<std::uint64_t> golden_first_lengths(const std::string& name, const std::string& input);

/// Returns a description of how `cuts` cuts an input differently from the entry, or an empty string.
[[nodiscard]] std::string golden_fault(const std::string& name, const std::string& input, const chunker& cuts);

/// Returns a description of how the bytes of an input differ from those that were cut, or an empty string.
[[nodiscard]] std::string golden_input_fault(const std::string& input);

/// Returns D1, D2 or D3. It is made by the first call and kept until the program ends.
[[nodiscard]] byte_span golden_input(std::string_view name);

// Known cuts of the algorithms that AES decides, as Borg 2 and another implementation of their definition made them
// (tests/data).

/// Returns how many cases there are.
[[nodiscard]] std::size_t phte_golden_count();

/// Makes the chunker of a case, with the reference.
[[nodiscard]] chunker phte_golden_chunker(std::size_t number);

/// Returns a description of how `cuts` cuts the input of a case differently, or an empty string.
[[nodiscard]] std::string phte_golden_fault(std::size_t number, const chunker& cuts);

}  // namespace cutpoint::tests
