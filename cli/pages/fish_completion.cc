// Completions for fish: a `complete` command for each option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/pages/pages.h"

namespace cutpoint::cli {

namespace {

/// Returns the command for an option. `condition` may be empty.
std::string line_of(const option_facts& option, std::string_view condition) {
  std::string out = fmt::format("complete -c @program@{}", condition);
  for (const std::string& word : option.words) {
    out += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
  }
  out += " -d " + shell_quoted(option.meaning);
  switch (option.shape) {
    case value_shape::none:
      break;
    case value_shape::text:
      out += " -x";
      break;
    case value_shape::file:
      out += " -r -F";
      break;
    case value_shape::names:
      out += " -x -a " + shell_quoted(fmt::format("{}", fmt::join(option.names, " ")));
      break;
  }
  return out + '\n';
}

std::string lines_of(const command_facts& command) {
  const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
  std::string out;
  for (const option_facts& option : command.options) out += line_of(option, condition);
  for (const option_facts& argument : command.arguments) {
    if (argument.shape == value_shape::file) out += fmt::format("complete -c @program@{} -F\n", condition);
    if (argument.shape == value_shape::names) {
      out += fmt::format("complete -c @program@{} -a {}\n", condition,
                         shell_quoted(fmt::format("{}", fmt::join(argument.names, " "))));
    }
  }
  return out;
}

}  // namespace

std::string fish_completion(const line_facts& facts) {
  std::string out =
      "# What fish completes after `@program@`. Made from the command's own definitions.\n"
      "complete -c @program@ -f\n";
  std::string lines;
  for (const command_facts& command : facts.commands) {
    out += fmt::format("complete -c @program@ -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       shell_quoted(command.meaning));
    lines += lines_of(command);
  }
  for (const option_facts& option : facts.whole.options) out += line_of(option, " -n __fish_use_subcommand");
  out += lines;
  replace_marks(out, "@program@", facts.whole.name);
  return out;
}

}  // namespace cutpoint::cli
