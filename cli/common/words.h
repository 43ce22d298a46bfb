// Words of the command line, protected from the meanings that CLI11 gives to some of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cutpoint::cli {

/// Returns the words after the program's name, in reverse order as CLI11 takes them. These words are protected: '++',
/// words in brackets, the empty value of an option (`--size=` would take the next word), and words after '--' that look
/// like options.
[[nodiscard]] std::vector<std::string> protected_words(int argc, char** argv);

/// Returns how many words follow '--', or nullopt without it.
[[nodiscard]] std::optional<std::size_t> words_after_options(int argc, char** argv);

/// Returns a word as the user wrote it.
[[nodiscard]] std::string unprotected(const std::string& word);

}  // namespace cutpoint::cli
