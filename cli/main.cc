// The command: reads the options, runs what was chosen, and gives the shell its exit code.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/version.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/chunk_command.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/info_command.h"
#include "cli/list_command.h"

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

/// Whether CLI11 has a meaning of its own for a word: the end of a subcommand, or a list.
bool is_special(std::string_view word) { return word == "++" || (word.starts_with('[') && word.ends_with(']')); }

/// The words of the command line, in reverse as CLI11 wants them. Paths that it would take for something else are spelt so
/// that it does not: special ones, and, since it has no '--' among paths, those after a '--' that look like options.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words;
  bool are_paths = false;
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    const bool looks_like_option = word.starts_with('-') && word != "-";
    if (word == "--" && !are_paths) {
      are_paths = true;
    } else {
      words.push_back((is_special(word) || (are_paths && looks_like_option) ? "./" : "") + std::string(word));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

exit_code run(int argc, char** argv) {
  CLI::App app("Cutpoint: content-defined chunks of files and streams, exactly as the sequential algorithm cuts them",
               "cutpoint");
  app.set_version_flag("--version", "cutpoint " + std::string(version()));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "cutpoint: error: " + std::string(error.what()) + "\nRun with --help for more information.\n";
  });
  chunk_command chunk;
  list_command list;
  info_command info;
  const CLI::App* const chunk_app = chunk.add_to(app);
  const CLI::App* const list_app = list.add_to(app);
  const CLI::App* const info_app = info.add_to(app);
  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error) == 0;
    if (!is_help) return exit_code::wrong_usage;
    return std::cout.flush() ? exit_code::done : exit_code::input_failed;
  }
  if (chunk_app->parsed()) return chunk.run();
  if (list_app->parsed()) return list.run();
  if (info_app->parsed()) return info.run();
  return exit_code::wrong_usage;
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
