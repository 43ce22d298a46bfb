// Completions for bash, without a library. In bash, '=' and ':' separate words.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/pages/pages.h"

namespace cutpoint::cli {

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

}  // namespace cutpoint::cli
