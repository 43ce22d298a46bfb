// The words of the command line between the shell and CLI11, which has meanings of its own for some that are paths to us.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cutpoint::cli {

/// The words after the program's name, in reverse as CLI11 wants them. What it would take for something else is protected:
/// '++', words in brackets, and, since it has no '--' among paths, those after a '--' that look like options. An option with
/// an empty value (`--size=`) is parted from it, so that it does not take the next word.
[[nodiscard]] std::vector<std::string> protected_words(int argc, char** argv);

/// A word as the user wrote it.
[[nodiscard]] std::string unprotected(std::string_view word);

}  // namespace cutpoint::cli
