// The table of subcommands. A new one is a folder, which has its code and its page for man, and a row here.
#include "cli/command_line.h"

#include <array>
#include <string>

#include <cutpoint/version.h>

#include "cli/bench/command.h"
#include "cli/chunk/command.h"
#include "cli/common/words.h"
#include "cli/dedup/command.h"
#include "cli/info/command.h"
#include "cli/list/command.h"
#include "cli/tune/command.h"

namespace cutpoint::cli {

namespace {

struct command_row {
  const char* name;
  const char* meaning;
  std::unique_ptr<subcommand> (*make)();
};

template <class Command>
std::unique_ptr<subcommand> make() {
  return std::make_unique<Command>();
}

/// In the order in which help shows them.
constexpr std::array<command_row, 6> rows = {{
    {"chunk", "Cut-points and fingerprints of files, trees and standard input", make<chunk_command>},
    {"dedup", "What deduplication would save, and where the time went", make<dedup_command>},
    {"tune", "Which algorithm, sizes and parameters are best for some data, on a sample of it", make<tune_command>},
    {"bench", "What each back end does a second, and the engine by the processor, a GPU and both", make<bench_command>},
    {"list", "Algorithms, profiles, fingerprints, back ends, with parameters and bounds", make<list_command>},
    {"info", "Processors, caches, NUMA nodes, devices, instruction sets, GPUs, costs", make<info_command>},
}};

}  // namespace

command_line::command_line()
    : app_("Cutpoint: content-defined chunks of files and streams, exactly as the sequential algorithm cuts them",
           "cutpoint") {
  app_.set_version_flag("--version", "cutpoint " + std::string(version()));
  app_.require_subcommand(1);
  for (const command_row& row : rows) {
    const auto& [app, made] = commands_.emplace_back(app_.add_subcommand(row.name, row.meaning), row.make());
    made->add_options(*app);
    for (CLI::Option* option : app->get_options()) {
      if (option->get_items_expected_max() != 0) option->transform(unprotected);
    }
  }
}

exit_code command_line::run_chosen() {
  for (const auto& [app, chosen] : commands_) {
    if (app->parsed()) return chosen->run();
  }
  return exit_code::wrong_usage;
}

}  // namespace cutpoint::cli
