// The table of subcommands. A new subcommand needs its source, its manual page, a line in subcommands.h and a row here.
#include "cli/command_line.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/version.h>
#include <fmt/format.h>

#include "cli/common/words.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

constexpr command_row command_rows[] = {
    {"chunk", "List the chunks of files, folders and standard input, with fingerprints", make_chunk_command},
    {"dedup", "Report what deduplication would save, and where the time went", make_dedup_command},
    {"tune", "Recommend an algorithm, sizes and parameters by trying them on a sample of the data", make_tune_command},
    {"bench", "Measure the speed of each back end, and of the engine by processor, GPU and both", make_bench_command},
    {"list", "Show algorithms, profiles, fingerprints and back ends, with parameters and bounds", make_list_command},
    {"info", "Show processors, caches, NUMA nodes, devices, instruction sets, GPUs and costs", make_info_command},
    {"init", "Make a store for backups", make_init_command},
    {"backup", "Back up files and folders into a store, as a snapshot", make_backup_command},
    {"snapshots", "List the snapshots of a store", make_snapshots_command},
    {"ls", "List the files of a snapshot", make_ls_command},
    {"find", "Find files in the snapshots of a store", make_find_command},
    {"restore", "Restore the files of a snapshot into a folder", make_restore_command},
    {"diff", "Show what differs between two snapshots", make_diff_command},
    {"dump", "Write a file of a snapshot, or a folder as an archive, to standard output", make_dump_command},
    {"mount", "Show the snapshots of a store as folders", make_mount_command},
    {"copy", "Copy snapshots from another store", make_copy_command},
    {"check", "Check a store, and name what is damaged", make_check_command},
    {"repair", "Make a damaged store consistent for what is left", make_repair_command},
    {"forget", "Remove snapshots that are named, or that no rule keeps", make_forget_command},
    {"tag", "Change the tags of snapshots", make_tag_command},
    {"rewrite", "Write snapshots without files that should not be in them", make_rewrite_command},
    {"prune", "Remove from a store what no snapshot refers to", make_prune_command},
    {"stats", "Show what a store contains", make_stats_command},
    {"sessions", "Show who writes to a store, and end a session that is dead", make_sessions_command},
    {"key", "List, add and remove keys of an encrypted store", make_key_command},
};

/// Options that several commands have stand in help under a heading for each concern.
struct option_group {
  const char* heading;
  std::vector<std::string_view> names;
};
const option_group option_groups[] = {
    {"Inputs",
     {"files-from", "files-from0", "follow", "exclude", "iexclude", "exclude-file", "exclude-if-present",
      "exclude-larger-than", "include", "one-file-system", "exclude-caches", "stdin-name", "stdin-from-command",
      "input"}},
    {"Cuts and fingerprints", {"algorithm", "profile", "cuts", "size", "param", "hash", "hash-key"}},
    {"Back ends, threads and memory",
     {"backend", "device", "device-memory", "batch", "memory", "threads", "segment", "join"}},
    {"Store",
     {"store", "password-file", "password-command", "key-file", "from-store", "from-password-file",
      "from-password-command", "from-key-file"}},
    {"Output", {"format", "details", "json", "output", "trace", "quiet", "verbose"}},
};

void add_to_group(CLI::Option& option) {
  for (const option_group& each : option_groups) {
    for (const std::string_view name : each.names) {
      if (option.check_lname(std::string(name))) option.group(each.heading);
    }
  }
}

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

}  // namespace

program cutpoint_program() {
  return {"cutpoint",
          "Cutpoint cuts files and streams into content-defined chunks, exactly as the sequential algorithm does",
          command_rows};
}

command_line::command_line(const program& definition) : app_(definition.meaning, definition.name) {
  app_.set_version_flag("--version", fmt::format("{} {}", definition.name, version()));
  app_.require_subcommand(1);
  app_.formatter(std::make_shared<help_formatter>());
  for (const command_row& row : definition.commands) {
    const auto& [app, command] = commands_.emplace_back(app_.add_subcommand(row.name, row.meaning), row.make());
    command->add_options(*app);
    for (CLI::Option* option : app->get_options()) {
      add_to_group(*option);
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
