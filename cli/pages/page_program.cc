// The program that writes pages and completions during the build.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/common/console.h"
#include "cli/pages/pages.h"

namespace cutpoint::cli {

// --- The definitions -------------------------------------------------------------------------------------------------

namespace {

using names = std::vector<std::string>;

result<option_facts> facts_of(const option& defined, option_names names_of) {
  option_facts facts{.words = defined.words(),
                     .value = defined.is_argument() ? defined.names : defined.value,
                     .meaning = defined.meaning,
                     .default_value = defined.default_value,
                     .environment = defined.environment,
                     .names = {},
                     .is_repeatable = defined.is_repeatable(),
                     .is_required = defined.is_required,
                     .excluded = {}};
  if (defined.takes_value()) {
    facts.names.assign(defined.choices.begin(), defined.choices.end());
    if (facts.names.empty()) facts.names = names_of(defined.is_argument() ? facts.value : facts.words.back());
    constexpr std::array<std::string_view, 5> files = {"FILE", "FOLDER", "LISTING", "PATH", "TRACE"};
    const bool is_file = std::find(files.begin(), files.end(), facts.value) != files.end();
    facts.shape = !facts.names.empty() ? value_shape::names : is_file ? value_shape::file : value_shape::text;
    if (facts.value == "NAME" && facts.names.empty()) {
      return status(status_code::invalid_argument,
                    fmt::format("{} takes a name, and its page program has none for it", defined.names));
    }
  }
  for (const option* other : defined.excluded) std::ranges::move(other->words(), std::back_inserter(facts.excluded));
  std::sort(facts.excluded.begin(), facts.excluded.end());
  return facts;
}

/// Describes the options in the order of help, which has them by headings.
result<command_facts> facts_of(const option_list& options, const std::string& meaning, option_names names_of) {
  command_facts facts{.name = options.command_name(), .meaning = meaning, .options = {}, .arguments = {}};
  names headings;
  for (const option& each : options.all()) {
    if (std::ranges::find(headings, each.heading) == headings.end()) headings.push_back(each.heading);
  }
  for (const std::string& heading : headings) {
    for (const option& each : options.all()) {
      if (each.heading != heading) continue;
      CUTPOINT_TRY(auto read, facts_of(each, names_of));
      (each.is_argument() ? facts.arguments : facts.options).push_back(std::move(read));
    }
  }
  return facts;
}

}  // namespace

result<line_facts> facts_of(const command_line& line, option_names names_of) {
  CUTPOINT_TRY(auto whole, facts_of(line.options(), line.meaning(), names_of));
  line_facts facts{.whole = std::move(whole), .commands = {}};
  for (const defined_command& each : line.commands()) {
    CUTPOINT_TRY(auto read, facts_of(each.options, each.meaning, names_of));
    facts.commands.push_back(std::move(read));
  }
  return facts;
}

// --- The program -----------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view usage =
    "usage: PROGRAM (bash | zsh | fish) OUTPUT\n"
    "       PROGRAM COMMAND MANUAL OUTPUT\n";

result<std::string> page_text(std::string_view what, const std::string& manual_path, const line_facts& facts) {
  if (manual_path.empty() && what == "bash") return bash_completion(facts);
  if (manual_path.empty() && what == "zsh") return zsh_completion(facts);
  if (manual_path.empty() && what == "fish") return fish_completion(facts);
  std::ifstream read(manual_path);
  const std::string text{std::istreambuf_iterator<char>(read), {}};
  if (text.empty()) return status(status_code::io_error, fmt::format("{}: cannot be read", manual_path));
  return man_page(facts, what, text);
}

exit_code write_page(int argc, char** argv, const program& described, option_names names_of) {
  const console say(verbosity::normal);
  if (argc != 3 && argc != 4) {
    std::cerr << usage;
    return exit_code::wrong_usage;
  }
  const command_line line(described);
  const auto facts = facts_of(line, names_of);
  const auto text = facts ? page_text(argv[1], argc == 4 ? argv[2] : "", *facts) : facts.error();
  if (!text) {
    say.error(text.error().message());
    return exit_code::input_failed;
  }
  std::ofstream out(argv[argc - 1]);
  out << *text;
  out.close();
  if (out) return exit_code::done;
  say.error(fmt::format("{}: cannot be written", argv[argc - 1]));
  return exit_code::input_failed;
}

}  // namespace

int run_page_program(int argc, char** argv, const program& described, option_names names_of) {
  return static_cast<int>(write_page(argc, argv, described, names_of));
}

}  // namespace cutpoint::cli
