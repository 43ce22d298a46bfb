// The words of the command line between the shell and CLI11, which has meanings of its own for some that are paths to us.
#pragma once

#include <string>
#include <vector>

namespace cutpoint::cli {

/// The words after the program's name, in reverse as CLI11 wants them. What it would take for something else is protected:
/// '++', words in brackets, the empty value of an option (`--size=`, which would take the next word), and, since it has no
/// '--' among paths, words after a '--' that look like options.
[[nodiscard]] std::vector<std::string> protected_words(int argc, char** argv);

/// A word as the user wrote it.
[[nodiscard]] std::string unprotected(const std::string& word);

}  // namespace cutpoint::cli
