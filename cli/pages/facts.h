// The definitions of the command line as plain data, from which pages and completions are made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/status.h>

#include "cli/command_line.h"

namespace cutpoint::cli {

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

}  // namespace cutpoint::cli
