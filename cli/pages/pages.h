// What is made of the facts of the command line: a page for man(1), completions for three shells. Each is the text of a file.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/status.h>

#include "cli/pages/facts.h"

namespace cutpoint::cli {

/// A page of one command, or of the whole for `cutpoint`: the template's prose, in which lines that are `@synopsis@`,
/// `@options@`, `@commands@` and `@see_also@` give way to what the facts say, and `@version@` to the version. Errors:
/// invalid_argument, for a command that there is none of.
[[nodiscard]] result<std::string> man_page(const line_facts& facts, std::string_view command, std::string_view text);

[[nodiscard]] std::string bash_completion(const line_facts& facts);
[[nodiscard]] std::string zsh_completion(const line_facts& facts);
[[nodiscard]] std::string fish_completion(const line_facts& facts);

/// In single quotes, as all three shells have them.
[[nodiscard]] std::string shell_quoted(std::string_view text);

}  // namespace cutpoint::cli
