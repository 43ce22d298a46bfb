// The program, and its subcommands: one function for each, which makes it.
//
// A new subcommand needs its source, its manual page, a line here and a row in engine_program.cc or cutpoint_program.cc.
#pragma once

#include <memory>

#include "cli/program.h"

namespace cutpoint::cli {

/// Returns `cutpoint`.
[[nodiscard]] program cutpoint_program();
/// Returns `cutpoint` without the subcommands on a store.
[[nodiscard]] program engine_program();

[[nodiscard]] std::unique_ptr<subcommand> make_backup_command();
[[nodiscard]] std::unique_ptr<subcommand> make_bench_command();
[[nodiscard]] std::unique_ptr<subcommand> make_check_command();
[[nodiscard]] std::unique_ptr<subcommand> make_chunk_command();
[[nodiscard]] std::unique_ptr<subcommand> make_copy_command();
[[nodiscard]] std::unique_ptr<subcommand> make_dedup_command();
[[nodiscard]] std::unique_ptr<subcommand> make_diff_command();
[[nodiscard]] std::unique_ptr<subcommand> make_dump_command();
[[nodiscard]] std::unique_ptr<subcommand> make_find_command();
[[nodiscard]] std::unique_ptr<subcommand> make_forget_command();
[[nodiscard]] std::unique_ptr<subcommand> make_info_command();
[[nodiscard]] std::unique_ptr<subcommand> make_init_command();
[[nodiscard]] std::unique_ptr<subcommand> make_key_command();
[[nodiscard]] std::unique_ptr<subcommand> make_sessions_command();
[[nodiscard]] std::unique_ptr<subcommand> make_list_command();
[[nodiscard]] std::unique_ptr<subcommand> make_ls_command();
[[nodiscard]] std::unique_ptr<subcommand> make_mount_command();
[[nodiscard]] std::unique_ptr<subcommand> make_prune_command();
[[nodiscard]] std::unique_ptr<subcommand> make_repair_command();
[[nodiscard]] std::unique_ptr<subcommand> make_restore_command();
[[nodiscard]] std::unique_ptr<subcommand> make_rewrite_command();
[[nodiscard]] std::unique_ptr<subcommand> make_snapshots_command();
[[nodiscard]] std::unique_ptr<subcommand> make_stats_command();
[[nodiscard]] std::unique_ptr<subcommand> make_tag_command();
[[nodiscard]] std::unique_ptr<subcommand> make_tune_command();

}  // namespace cutpoint::cli
