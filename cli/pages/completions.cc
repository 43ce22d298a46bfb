// Completions for bash, zsh and fish.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/pages/pages.h"

namespace cutpoint::cli {

// --- bash, without a library: '=' and ':' separate words -------------------------------------------------------------

namespace {

constexpr std::string_view beginning =
    R"(# What bash completes after `@program@`. Made from the command's own definitions.

@function@() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= names= word are_paths=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then are_paths=1; fi
    if [[ -z $command && $word != -* ]]; then command=$word; fi
  done
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
    if [[ $before != -* ]]; then return; fi # the value of a parameter
  fi
  if [[ -n $are_paths ]]; then before=; fi
  COMPREPLY=()
  case $command in
)";

constexpr std::string_view ending = R"(  esac
  if [[ $names == @files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$names" -- "$current")
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F @function@ @program@
)";

std::string all_words(const command_facts& command) {
  std::vector<std::string> words;
  for (const option_facts& option : command.options)
    words.insert(words.end(), option.words.begin(), option.words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

/// Returns the words that complete the value, for the script.
std::string values(const option_facts& option) {
  switch (option.shape) {
    case value_shape::names:
      return shell_quoted(fmt::format("{}", fmt::join(option.names, " ")));
    case value_shape::file:
      return "@files";
    default:
      return {};
  }
}

std::string case_of(const command_facts& command) {
  std::string out = fmt::format("    {})\n      case $before in\n", command.name);
  for (const option_facts& option : command.options) {
    if (option.shape == value_shape::none) continue;
    const std::string words = fmt::format("{}", fmt::join(option.words, " | "));
    out += option.shape == value_shape::text ? fmt::format("        {}) return ;;\n", words)
                                             : fmt::format("        {}) names={} ;;\n", words, values(option));
  }
  const std::string argument = command.arguments.empty() ? std::string() : values(command.arguments.front());
  out += fmt::format(
      "        *)\n"
      "          names={}\n"
      "          if [[ $current == -* && -z $are_paths ]]; then names={}; fi ;;\n"
      "      esac ;;\n",
      argument.empty() ? "''" : argument, shell_quoted(all_words(command)));
  return out;
}

}  // namespace

std::string bash_completion(const line_facts& facts) {
  std::string first;
  std::string out(beginning);
  for (const command_facts& command : facts.commands) {
    first += command.name + ' ';
    out += case_of(command);
  }
  out += fmt::format("    '') names={} ;;\n", shell_quoted(first + all_words(facts.whole)));
  out += ending;
  std::string function = '_' + facts.whole.name;
  std::replace(function.begin(), function.end(), '-', '_');
  replace_marks(out, "@program@", facts.whole.name);
  replace_marks(out, "@function@", function);
  return out;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char each : text) {
    if (each == '\'') {
      out += R"('\'')";
    } else {
      out += each;
    }
  }
  return out + '\'';
}

// --- zsh, by `_arguments`, which knows the options that exclude each other -------------------------------------------

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

// --- fish: a `complete` command for each option ----------------------------------------------------------------------

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
