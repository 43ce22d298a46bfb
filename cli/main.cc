// The command: reads the options, runs what was chosen, and gives the shell its exit code.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>
#include <cutpoint/text.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/common/command_line.h"
#include "cli/common/console.h"
#include "cli/common/exit_code.h"
#include "cli/common/words.h"

namespace cutpoint::cli {

namespace {

/// Where one of the three standard descriptors is closed, a file opened later would take its number and be read or
/// written in its place. Each gets a stand-in that fails as a closed one does.
void occupy_closed_descriptors() {
  constexpr std::array<int, 3> wrong_ways = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", wrong_ways[static_cast<std::size_t>(descriptor)]));
    }
  }
}

/// Errors: unknown_name, for a first word that is neither a command nor an option.
status check_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  return is_known || word.starts_with('-') ? status() : unknown_name("command", word, names);
}

exit_code run(int argc, char** argv) {
  command_line line;
  std::vector<std::string> words = protected_words(argc, argv);
  if (const status known = words.empty() ? status() : check_command(line.app, unprotected(words.back())); !known.ok()) {
    console(verbosity::normal).error(known.message());
    return exit_code::wrong_usage;
  }
  try {
    line.app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const bool is_help = line.app.exit(error) == 0;
    if (!is_help) return exit_code::wrong_usage;
    return std::cout.flush() ? exit_code::done : exit_code::input_failed;
  }
  return line.run_chosen();
}

}  // namespace

/// What nobody foresaw is told as well.
exit_code guarded_run(int argc, char** argv) {
  const console say(verbosity::normal);
  try {
    occupy_closed_descriptors();
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    say.error("out of memory");
  } catch (const std::exception& unexpected) {
    say.error(unexpected.what());
  }
  return exit_code::input_failed;
}

}  // namespace cutpoint::cli

int main(int argc, char** argv) { return static_cast<int>(cutpoint::cli::guarded_run(argc, argv)); }
