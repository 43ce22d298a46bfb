// The only source that knows CLI11, whose headers take seconds. Some words have a meaning for it that users do not expect. These are
// protected by a control character in front; a word that already begins with this character is protected too.
#include "cli/program.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <cutpoint/text.h>
#include <cutpoint/version.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/common/output.h"

namespace cutpoint::cli {

namespace {

// --- Words -----------------------------------------------------------------------------------------------------------

constexpr char guard = '\x01';

bool needs_guard(std::string_view word, bool is_path) {
  const bool is_bracketed = word.starts_with('[') && word.ends_with(']');
  const bool looks_like_option = word.starts_with('-') && word != "-";
  return word == "++" || is_bracketed || word.starts_with(guard) || (is_path && looks_like_option);
}

/// Returns the words after the program's name, in reverse order as CLI11 takes them. These words are protected: '++',
/// words in brackets, the empty value of an option (`--size=` would take the next word), and words after '--' that look
/// like options.
std::vector<std::string> protected_words(int argc, char** argv) {
  std::vector<std::string> words;
  bool are_paths = false;
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (word == "--" && !are_paths) {
      are_paths = true;
    } else if (!are_paths && word.starts_with("--") && word.ends_with('=')) {
      words.push_back(std::string(word) + guard);
    } else {
      words.push_back(needs_guard(word, are_paths) ? guard + std::string(word) : std::string(word));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// Returns how many words follow '--', or nullopt without it.
std::optional<std::size_t> words_after_options(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  const auto mark = std::ranges::find(words, std::string_view("--"));
  return mark == words.end() ? std::nullopt : std::optional<std::size_t>(words.end() - mark - 1);
}

/// Returns a word as the user wrote it.
std::string unprotected(const std::string& word) { return word.substr(word.starts_with(guard) ? 1 : 0); }

// --- Definitions for CLI11 -------------------------------------------------------------------------------------------

/// Help that does not list which options exclude each other: whoever gives two of them is told.
class help_formatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_items_expected_max() != 0) {
      text += ' ' + option->get_type_name();
      if (!option->get_default_str().empty()) text += '=' + option->get_default_str();
      if (option->get_expected_max() > 1) text += " ...";
      if (option->get_required()) text += ' ' + get_label("REQUIRED");
    }
    if (!option->get_envname().empty()) text += " (" + get_label("Env") + ':' + option->get_envname() + ')';
    return text;
  }
};

using parsed_options = std::map<const option*, CLI::Option*>;

/// Adds a definition by the kind of its target. Returns null for a question.
struct option_adder {
  CLI::App& app;
  const option& added;

  CLI::Option* operator()(std::monostate) const { return nullptr; }
  CLI::Option* operator()(bool* target) const { return app.add_flag(added.names, *target, added.meaning); }
  CLI::Option* operator()(const std::function<void()>& function) const {
    return app.add_flag_callback(added.names, function, added.meaning);
  }
  template <class Target>
  CLI::Option* operator()(Target* target) const {
    CLI::Option* const parsed = app.add_option(added.names, *target, added.meaning);
    if (added.is_argument()) return parsed;
    parsed->type_name(added.value)->default_str(added.default_value);
    return parsed->allow_extra_args(false);
  }
};

void add_options(CLI::App& app, const option_list& options, parsed_options& parsed) {
  app.set_help_flag(options.all().front().names, options.all().front().meaning);
  for (const option& each : options.all()) {
    CLI::Option* const added = std::visit(option_adder{app, each}, each.target);
    if (added == nullptr) continue;
    parsed[&each] = added->group(each.heading)->required(each.is_required);
    if (!each.takes_value()) continue;
    if (!each.empty_problem.empty()) {
      added->check([&each](const std::string& word) { return word.empty() ? each.empty_problem : std::string(); });
    }
    added->transform(unprotected);
  }
  for (const option& each : options.all()) {
    for (const option* other : each.excluded) parsed.at(&each)->excludes(parsed.at(other));
  }
}

/// Takes the values of variables for the options that were not given, unless the user has given an alternative.
void take_variables(option_list& options) {
  for (const option& each : options.all()) {
    const auto is_given = [](const option* other) { return other->is_given; };
    if (each.environment.empty() || each.is_given || std::ranges::any_of(each.alternatives, is_given)) continue;
    const char* const value = std::getenv(each.environment.c_str());
    if (value != nullptr && *value != '\0') *std::get<std::string*>(each.target) = value;
  }
}

// --- Errors ----------------------------------------------------------------------------------------------------------

/// Checks the first word. Errors: unknown_name, if it is neither a command nor an option.
status check_command(const std::deque<defined_command>& commands, std::string_view word) {
  std::vector<std::string_view> names;
  for (const defined_command& each : commands) names.push_back(each.options.command_name());
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  return is_known || word.starts_with('-') ? status() : unknown_name("command", word, names);
}

/// Options of restic, or names that its options suggest, and ours that do the same.
constexpr std::pair<std::string_view, std::string_view> foreign_options[] = {
    {"--max-repack-size", "--max-rewrite"}, {"--repo", "--store"},
    {"--from-repo", "--from-store"},        {"--stdin-filename", "--stdin-name"},
    {"--limit-upload", "--limit-read"},     {"--files-from-verbatim", "--files-from"},
    {"--files-from-raw", "--files-from0"},  {"--iexclude-file", "--iexclude"},
    {"--include-file", "--include"},
};

/// Returns the message for an option that `known` lacks, or an empty string if none of them can be meant.
std::string unknown_option(std::string_view word, std::vector<std::string_view> known) {
  for (const auto& [foreign, own] : foreign_options) {
    if (foreign == word && std::ranges::count(known, own) != 0) {
      return fmt::format("no option '{}', did you mean '{}'?", foreign, own);
    }
  }
  // Letters apart, --include and --exclude are near, and mean the opposite.
  const auto is_of = [](std::string_view name, std::string_view verb) { return name.find(verb) < 4; };
  std::erase_if(known, [&](std::string_view each) {
    return (is_of(word, "include") && is_of(each, "exclude")) || (is_of(word, "exclude") && is_of(each, "include"));
  });
  const std::string hint = unknown_name("option", word, known).message();
  return hint.ends_with('?') ? hint : "";  // else it lists all options
}

/// Describes a wrong command line. An unknown option gets the name that is most like it.
std::string description_of(const std::vector<std::string>& remaining, const option_list& options, std::string usual) {
  if (usual.starts_with("The following argument")) {  // which the library names in reverse order
    usual = "not expected here:";
    for (const std::string& word : remaining) usual += ' ' + unprotected(word);
  }
  if (const std::size_t end = usual.find(" required "); end != std::string::npos && usual.find(": ") < end) {
    const bool is_repeated = usual.find("but received") != std::string::npos;
    usual = usual.substr(0, usual.find(": ") + 2) + (is_repeated ? "is given more than once" : "has no value");
  }
  const auto unknown = std::find_if(remaining.begin(), remaining.end(),
                                    [](const std::string& word) { return unprotected(word).starts_with("--"); });
  if (unknown == remaining.end()) return usual;
  std::vector<std::string> names;
  for (const option& each : options.all()) {
    for (std::string& word : each.words()) {
      if (word.starts_with("--")) names.push_back(std::move(word));
    }
  }
  const std::string word = unprotected(*unknown);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string hint = unknown_option(std::string_view(word).substr(0, word.find('=')), known);
  return hint.empty() ? usual : hint;
}

}  // namespace

defined_command::defined_command(const command_row& row)
    : meaning(row.meaning), options(row.name), command(row.make()) {
  command->add_options(options);
}

command_line::command_line(const program& definition) : meaning_(definition.meaning), options_(definition.name) {
  options_.add_question("--version", "Display program version information and exit");
  for (const command_row& row : definition.commands) commands_.emplace_back(row);
}

result<std::optional<std::string>> command_line::parse(int argc, char** argv) {
  std::vector<std::string> words = protected_words(argc, argv);
  if (!words.empty()) CUTPOINT_RETURN_IF_FAILED(check_command(commands_, unprotected(words.back())));
  const std::string& name = options_.command_name();
  CLI::App app(meaning_, name);
  parsed_options parsed;
  add_options(app, options_, parsed);
  app.set_version_flag(options_.all().back().names, fmt::format("{} {}", name, version()),
                       options_.all().back().meaning);
  app.require_subcommand(1);
  app.formatter(std::make_shared<help_formatter>());
  for (const defined_command& each : commands_) {
    add_options(*app.add_subcommand(each.options.command_name(), each.meaning), each.options, parsed);
  }
  const auto chosen_command = [&] {
    return std::ranges::find_if(
        commands_, [&](const defined_command& each) { return app.got_subcommand(each.options.command_name()); });
  };
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      for (const auto& [each, shown] : parsed) shown->envname(each->environment);  // for help alone
      std::ostringstream text;
      static_cast<void>(app.exit(error, text, text));
      return std::optional(text.str());
    }
    const auto command = chosen_command();
    const option_list& options = command == commands_.end() ? options_ : command->options;
    const std::string why = description_of(app.remaining(true), options, error.what());
    return status(status_code::invalid_argument,
                  fmt::format("{}{} '{}{} --help' shows the usage", why, why.ends_with('?') ? "" : ";", name,
                              command == commands_.end() ? std::string() : ' ' + options.command_name()));
  }
  const auto command = chosen_command();
  for (option& each : command->options.all()) {
    const auto entry = parsed.find(&each);
    each.is_given = entry != parsed.end() && entry->second->count() != 0;
  }
  take_variables(command->options);
  chosen_ = command->command.get();
  chosen_->words_after_options = words_after_options(argc, argv);
  return std::optional<std::string>();
}

// --- The program -----------------------------------------------------------------------------------------------------

namespace {

/// Opens /dev/null for each closed standard descriptor, in the direction that fails as a closed one does. Otherwise a
/// file that is opened later would get the number of a standard descriptor.
void occupy_closed_descriptors() {
  constexpr std::array<int, 3> unusable_modes = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", unusable_modes[static_cast<std::size_t>(descriptor)]));
    }
  }
}

result<exit_code> run(int argc, char** argv, const program& definition, const console& say) {
  command_line line(definition);
  CUTPOINT_TRY(const auto text, line.parse(argc, argv));
  return text ? write_all(output_option(), *text, say) : line.chosen().run();
}

/// Lets a write past the limit of file sizes fail, so that it is reported. Programs that this one starts inherit a signal that is
/// ignored, but no handler.
void survive_size_signal() {
  struct sigaction action = {};
  ::sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace

int run_program(int argc, char** argv, const program& definition) {
  console::name_program(definition.name);
  const console say(verbosity::normal);
  exit_code outcome = exit_code::input_failed;
  try {
    try {
      occupy_closed_descriptors();
      survive_size_signal();
      // A parent that ignores the signal passes that on, and the system then forgets how the commands ended that are run here.
      static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
      const auto ended = run(argc, argv, definition, say);
      outcome = ended ? *ended : say.refuse(ended.error());
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& unexpected) {
      say.error(unexpected.what());
    }
  } catch (const std::bad_alloc&) {  // also of the message of another exception
    say.report_no_memory();
  }
  return static_cast<int>(outcome);
}

}  // namespace cutpoint::cli
