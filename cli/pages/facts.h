// The command line as plain facts, from the definitions that parse it: what pages and completions are made of.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/status.h>

#include "cli/command_line.h"

namespace cutpoint::cli {

/// What the value of an option, or a positional argument, can be completed by.
enum class value_shape {
  none,   ///< there is no value
  text,   ///< what only the user knows
  file,   ///< paths
  names,  ///< one of some names
};

struct option_facts {
  std::vector<std::string> words;  ///< `-o`, `--output`; none of a positional argument
  std::string value;               ///< what stands for the value: `FILE`; empty where there is none
  std::string meaning;
  std::string default_value;  ///< empty where the meaning tells it, or there is none
  std::string environment;    ///< the variable that stands in; empty where there is none
  value_shape shape = value_shape::none;
  std::vector<std::string> names;  ///< of `value_shape::names`; one that ends in '=' wants more after it
  bool is_repeatable = false;
  bool is_required = false;
  std::vector<std::string> excluded;  ///< words of options that cannot be given beside it
};

struct command_facts {
  std::string name;  ///< `chunk`; `cutpoint` for the whole
  std::string meaning;
  std::vector<option_facts> options;    ///< in the order of their definition
  std::vector<option_facts> arguments;  ///< the positional ones
};

struct line_facts {
  command_facts whole;
  std::vector<command_facts> commands;
};

/// Errors: invalid_argument, for an option that takes a NAME and is not known to `facts.cc`: its names are to be added.
[[nodiscard]] result<line_facts> facts_of(const command_line& line);

}  // namespace cutpoint::cli
