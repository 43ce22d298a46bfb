// The subcommands: one function for each, which makes it.
#pragma once

#include <memory>

#include "cli/common/subcommand.h"

namespace cutpoint::cli {

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
