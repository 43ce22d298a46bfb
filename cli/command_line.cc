// The table of subcommands. A new subcommand needs a folder, with its code and its manual page, and a row here.
#include "cli/command_line.h"

#include <array>
#include <string>

#include <cutpoint/version.h>

#include "cli/backup/command.h"
#include "cli/bench/command.h"
#include "cli/check/command.h"
#include "cli/chunk/command.h"
#include "cli/common/words.h"
#include "cli/copy/command.h"
#include "cli/dedup/command.h"
#include "cli/diff/command.h"
#include "cli/dump/command.h"
#include "cli/forget/command.h"
#include "cli/info/command.h"
#include "cli/init/command.h"
#include "cli/key/command.h"
#include "cli/list/command.h"
#include "cli/ls/command.h"
#include "cli/mount/command.h"
#include "cli/prune/command.h"
#include "cli/repair/command.h"
#include "cli/restore/command.h"
#include "cli/snapshots/command.h"
#include "cli/stats/command.h"
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

/// The subcommands, in the order of the help text.
constexpr std::array<command_row, 21> command_rows = {{
    {"chunk", "List the chunks of files, folders and standard input, with fingerprints", make<chunk_command>},
    {"dedup", "Report what deduplication would save, and where the time went", make<dedup_command>},
    {"tune", "Recommend an algorithm, sizes and parameters by trying them on a sample of the data", make<tune_command>},
    {"bench", "Measure the speed of each back end, and of the engine by processor, GPU and both", make<bench_command>},
    {"list", "Show algorithms, profiles, fingerprints and back ends, with parameters and bounds", make<list_command>},
    {"info", "Show processors, caches, NUMA nodes, devices, instruction sets, GPUs and costs", make<info_command>},
    {"init", "Make a store for backups", make<init_command>},
    {"backup", "Back up files and folders into a store, as a snapshot", make<backup_command>},
    {"snapshots", "List the snapshots of a store", make<snapshots_command>},
    {"ls", "List the files of a snapshot", make<ls_command>},
    {"restore", "Restore the files of a snapshot into a folder", make<restore_command>},
    {"diff", "Show what differs between two snapshots", make<diff_command>},
    {"dump", "Write a file of a snapshot to standard output", make<dump_command>},
    {"mount", "Show the snapshots of a store as folders", make<mount_command>},
    {"copy", "Copy snapshots from another store", make<copy_command>},
    {"check", "Check a store, and name what is damaged", make<check_command>},
    {"repair", "Make a damaged store consistent for what is left", make<repair_command>},
    {"forget", "Remove snapshots that are named, or that no rule keeps", make<forget_command>},
    {"prune", "Remove from a store what no snapshot refers to", make<prune_command>},
    {"stats", "Show what a store contains", make<stats_command>},
    {"key", "List, add and remove keys of an encrypted store", make<key_command>},
}};

}  // namespace

command_line::command_line()
    : app_("Cutpoint cuts files and streams into content-defined chunks, exactly as the sequential algorithm does",
           "cutpoint") {
  app_.set_version_flag("--version", "cutpoint " + std::string(version()));
  app_.require_subcommand(1);
  for (const command_row& row : command_rows) {
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
