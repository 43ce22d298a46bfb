// Makes pages for man(1) and completions for three shells. Each function returns the text of a file.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/status.h>

#include "cli/pages/facts.h"

namespace cutpoint::cli {

/// Makes the page of a command, or that of the whole program for its name. `manual` is the text of a manual.md, which says how it is
/// written. Errors: invalid_argument, for a command that is unknown or has no section.
[[nodiscard]] result<std::string> man_page(const line_facts& facts, std::string_view command, std::string_view manual);

[[nodiscard]] std::string bash_completion(const line_facts& facts);
[[nodiscard]] std::string zsh_completion(const line_facts& facts);
[[nodiscard]] std::string fish_completion(const line_facts& facts);

/// Replaces each mark in a text.
void replace_marks(std::string& text, std::string_view mark, std::string_view value);

/// Puts text in single quotes for any of the three shells.
[[nodiscard]] std::string shell_quoted(std::string_view text);

}  // namespace cutpoint::cli
