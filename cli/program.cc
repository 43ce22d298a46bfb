#include "cli/program.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>
#include <cutpoint/text.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/output.h"
#include "cli/common/words.h"

namespace cutpoint::cli {

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

/// Checks the first word. Errors: unknown_name, if it is neither a command nor an option.
status check_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  return is_known || word.starts_with('-') ? status() : unknown_name("command", word, names);
}

/// Describes a wrong command line. An unknown option gets the name that is most like it.
std::string description_of(const CLI::App& app, const CLI::App& chosen, const CLI::ParseError& error) {
  std::vector<std::string> words = app.remaining(true);
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return unprotected(word).starts_with("--"); });
  if (option == words.end()) return error.what();
  std::vector<std::string> names;
  for (const CLI::Option* each : chosen.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::string word = unprotected(*option);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string hint = unknown_name("option", word.substr(0, word.find('=')), known).message();
  return hint.ends_with('?') ? hint : error.what();  // else it lists all options
}

/// Prints help or the version to standard output, or a usage error as one line on standard error.
exit_code print_help_or_error(const CLI::App& app, const CLI::ParseError& error, const console& say) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    const auto commands = app.get_subcommands();
    const CLI::App& chosen = commands.empty() ? app : *commands.front();
    const std::string name = commands.empty() ? std::string() : ' ' + chosen.get_name();
    const std::string why = description_of(app, chosen, error);
    return say.refuse(
        {status_code::invalid_argument,
         fmt::format("{}{} '{}{} --help' shows the usage", why, why.ends_with('?') ? "" : ";", app.get_name(), name)});
  }
  std::ostringstream text;
  static_cast<void>(app.exit(error, text, text));
  return write_all(output_option(), text.str(), say);
}

exit_code run(int argc, char** argv, const program& definition, const console& say) {
  command_line line(definition);
  std::vector<std::string> words = protected_words(argc, argv);
  if (const status known = words.empty() ? status() : check_command(line.app(), unprotected(words.back()));
      !known.ok()) {
    return say.refuse(known);
  }
  try {
    line.app().parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return print_help_or_error(line.app(), error, say);
  }
  return line.run_chosen(words_after_options(argc, argv));
}

}  // namespace

int run_program(int argc, char** argv, const program& definition) {
  console::name_program(definition.name);
  const console say(verbosity::normal);
  exit_code outcome = exit_code::input_failed;
  try {
    occupy_closed_descriptors();
    outcome = run(argc, argv, definition, say);
  } catch (const std::bad_alloc&) {
    say.error("out of memory");
  } catch (const std::exception& unexpected) {
    say.error(unexpected.what());
  }
  return static_cast<int>(outcome);
}

}  // namespace cutpoint::cli
