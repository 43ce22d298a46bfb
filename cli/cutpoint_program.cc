// The table of the subcommands on a store, after those that need none.
#include <iterator>

#include "cli/subcommands.h"

namespace cutpoint::cli {

constexpr command_row store_rows[] = {
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

program cutpoint_program() {
  program whole = engine_program();
  whole.commands.insert(whole.commands.end(), std::begin(store_rows), std::end(store_rows));
  return whole;
}

}  // namespace cutpoint::cli
