// Completions for zsh by `_arguments`, which knows the options that exclude each other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/pages/pages.h"

namespace cutpoint::cli {

namespace {

/// Escapes text for a specification, in which brackets and colons have a meaning.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (const char each : text) {
    if (each == '[' || each == ']' || each == ':' || each == '\\') out += '\\';
    out += each;
  }
  return out;
}

/// Returns `:message:action`; empty for an option without a value.
std::string action(const option_facts& option) {
  const std::string message = fmt::format(":{}:", zsh_escaped(option.value));
  switch (option.shape) {
    case value_shape::none:
      return {};
    case value_shape::text:
      return message + ' ';
    case value_shape::file:
      return message + "_files";
    case value_shape::names:
      break;
  }
  const std::string words = fmt::format("{}", fmt::join(option.names, " "));
  const bool has_more = option.names.front().ends_with('=');
  return message + (has_more ? fmt::format("compadd -S \"\" - {}", words) : fmt::format("({})", words));
}

/// Returns a specification for each word of the option. It excludes the other words and the options of the definition.
std::string specifications(const option_facts& option) {
  std::vector<std::string> excluded = option.excluded;
  if (!option.is_repeatable) excluded.insert(excluded.end(), option.words.begin(), option.words.end());
  std::string out;
  for (const std::string& word : option.words) {
    const std::string_view joint = option.shape == value_shape::none ? "" : word.starts_with("--") ? "=" : "+";
    const std::string before =
        option.is_repeatable ? std::string(1, '*') : fmt::format("({})", fmt::join(excluded, " "));
    out += fmt::format("        {} \\\n", shell_quoted(fmt::format("{}{}{}[{}]{}", before, word, joint,
                                                                   zsh_escaped(option.meaning), action(option))));
  }
  return out;
}

std::string zsh_case(const command_facts& command) {
  std::string out = fmt::format("    {})\n      _arguments -s -S \\\n", command.name);
  for (const option_facts& option : command.options) out += specifications(option);
  for (const option_facts& argument : command.arguments) {
    out += fmt::format("        {} \\\n",
                       shell_quoted(fmt::format("{}{}", argument.is_repeatable ? "*" : "1", action(argument))));
  }
  return out + "        && found=0 ;;\n";
}

}  // namespace

std::string zsh_completion(const line_facts& facts) {
  std::string out =
      "#compdef @program@\n"
      "# What zsh completes after `@program@`. Made from the command's own definitions.\n\n"
      "_@program@() {\n"
      "  local -i found=1\n"
      "  local context state line curcontext=$curcontext\n"
      "  typeset -A opt_args\n"
      "  local -a commands=(\n";
  for (const command_facts& command : facts.commands) {
    out += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", command.name, zsh_escaped(command.meaning))));
  }
  out += "  )\n  _arguments -C \\\n";
  for (const option_facts& option : facts.whole.options) out += specifications(option);
  out +=
      "    '1:command:->command' '*::argument:->arguments' && found=0\n"
      "  if [[ $state == command ]]; then _describe command commands && found=0; fi\n"
      "  [[ $state == arguments ]] || return found\n"
      "  curcontext=${curcontext%:*}-$words[1]:\n"
      "  case $words[1] in\n";
  for (const command_facts& command : facts.commands) out += zsh_case(command);
  out +=
      "  esac\n"
      "  return found\n"
      "}\n\n"
      "if [[ $funcstack[1] == _@program@ ]]; then _@program@ \"$@\"; else compdef _@program@ @program@; fi\n";
  replace_marks(out, "@program@", facts.whole.name);
  return out;
}

}  // namespace cutpoint::cli
