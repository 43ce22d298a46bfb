// Reads the definitions of the command line.
#include "cli/pages/facts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

using names = std::vector<std::string>;

names words_of(const CLI::Option& option) {
  names words;
  for (const std::string& name : option.get_snames()) words.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) words.push_back("--" + name);
  return words;
}

result<option_facts> facts_of(const CLI::Option& option, option_names names_of) {
  option_facts facts{.words = words_of(option),
                     .value = {},
                     .meaning = option.get_description(),
                     .default_value = option.get_default_str(),
                     .environment = option.get_envname(),
                     .names = {},
                     .is_repeatable = option.get_expected_max() > 1,
                     .is_required = option.get_required(),
                     .excluded = {}};
  if (option.get_items_expected_max() != 0) {
    facts.value = option.get_positional() ? option.get_name(true) : option.get_type_name();
    facts.names = names_of(option.get_positional() ? facts.value : facts.words.back());
    constexpr std::array<std::string_view, 5> files = {"FILE", "FOLDER", "LISTING", "PATH", "TRACE"};
    const bool is_file = std::find(files.begin(), files.end(), facts.value) != files.end();
    facts.shape = !facts.names.empty() ? value_shape::names : is_file ? value_shape::file : value_shape::text;
    if (facts.value == "NAME" && facts.names.empty()) {
      return status(status_code::invalid_argument,
                    fmt::format("{} takes a name, and its page program has none for it", option.get_name()));
    }
  }
  for (const CLI::Option* other : option.get_excludes()) {
    for (std::string& word : words_of(*other)) facts.excluded.push_back(std::move(word));
  }
  std::sort(facts.excluded.begin(), facts.excluded.end());  // the definitions are not in order
  return facts;
}

result<command_facts> facts_of(const CLI::App& app, option_names names_of) {
  command_facts facts{.name = app.get_name(), .meaning = app.get_description(), .options = {}, .arguments = {}};
  for (const std::string& group : app.get_groups()) {  // in the order of help
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group) continue;
      auto read = facts_of(*option, names_of);
      if (!read) return read.error();
      (option->get_positional() ? facts.arguments : facts.options).push_back(*std::move(read));
    }
  }
  return facts;
}

}  // namespace

result<line_facts> facts_of(const command_line& line, option_names names_of) {
  auto whole = facts_of(line.app(), names_of);
  if (!whole) return whole.error();
  line_facts facts{.whole = *std::move(whole), .commands = {}};
  for (const CLI::App* command : line.app().get_subcommands({})) {
    auto read = facts_of(*command, names_of);
    if (!read) return read.error();
    facts.commands.push_back(*std::move(read));
  }
  return facts;
}

}  // namespace cutpoint::cli
