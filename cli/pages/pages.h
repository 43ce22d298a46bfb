// Makes pages for man(1) and completions for three shells from the definitions of the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

#include "cli/program.h"

namespace cutpoint::cli {

// --- The definitions as plain data -----------------------------------------------------------------------------------

/// How the value of an option or a positional argument can be completed.
enum class value_shape {
  none,   ///< the option takes no value
  text,   ///< text that only the user knows
  file,   ///< paths
  names,  ///< one of some names
};

struct option_facts {
  std::vector<std::string> words;  ///< `-o`, `--output`; empty for a positional argument
  std::string value;               ///< the placeholder of the value: `FILE`; empty if the option takes none
  std::string meaning;
  std::string default_value;  ///< empty if the meaning says it or if there is none
  std::string environment;    ///< the variable that is used if the option is not given; may be empty
  value_shape shape = value_shape::none;
  std::vector<std::string> names;  ///< for `value_shape::names`; a name that ends in '=' needs a value
  bool is_repeatable = false;
  bool is_required = false;
  std::vector<std::string> excluded;  ///< words of options that cannot be given together with this one
};

struct command_facts {
  std::string name;  ///< `chunk`; that of the program for the whole
  std::string meaning;
  std::vector<option_facts> options;    ///< in the order of their definition
  std::vector<option_facts> arguments;  ///< the positional ones
};

struct line_facts {
  command_facts whole;
  std::vector<command_facts> commands;
};

/// Returns the names that an option takes, or a positional argument by its placeholder; none if it takes no names.
using option_names = std::vector<std::string> (*)(std::string_view option);

/// Errors: invalid_argument, for an option that takes a NAME and for which `names_of` has none.
[[nodiscard]] result<line_facts> facts_of(const command_line& line, option_names names_of);

// --- Texts -----------------------------------------------------------------------------------------------------------

/// Makes the page of a command, or that of the whole program for its name. `manual` is the text of a manual.md, which says how it is
/// written. Errors: invalid_argument, for a command that is unknown or has no section.
[[nodiscard]] result<std::string> man_page(const line_facts& facts, std::string_view command, std::string_view manual);

[[nodiscard]] std::string bash_completion(const line_facts& facts);
[[nodiscard]] std::string zsh_completion(const line_facts& facts);
[[nodiscard]] std::string fish_completion(const line_facts& facts);

void replace_marks(std::string& text, std::string_view mark, std::string_view value);

/// Puts text in single quotes for any of the three shells.
[[nodiscard]] std::string shell_quoted(std::string_view text);

// --- The program -----------------------------------------------------------------------------------------------------

/// Writes a page or a completion of the described program, as the arguments say. Prints errors. Returns what `main` returns.
[[nodiscard]] int run_page_program(int argc, char** argv, const program& described, option_names names_of);

}  // namespace cutpoint::cli
