// The options of a store in C, checked and converted.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <cutpoint/cutpoint_store.h>
#include <cutpoint/store.h>
#include <cutpoint/store_diff.h>
#include <cutpoint/store_policy.h>
#include <cutpoint/store_push.h>

#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// Checks an argument that must be given.
template <class Argument>
[[nodiscard]] outcome expect_given(Argument* argument, std::string_view name) {
  return argument != nullptr ? outcome() : outcome(CUTPOINT_INVALID_ARGUMENT, std::string(name) + " is null");
}

/// Which snapshots a call of `cutpoint_store_forget` looks at, and which of them it keeps.
struct forget_rules {
  snapshot_policy policy;
  snapshot_grouping grouping;
  snapshot_filter filter;
};

/// Reads ids of snapshots.
[[nodiscard]] outcome read_ids(std::string_view name, const char* const* texts, std::uint64_t count,
                               std::set<std::string>& ids);

// Each function copies the caller's structure into `raw`, whose fields are zeros then if `user_options` is null, and converts it,
// except its callbacks.

[[nodiscard]] outcome read(const cutpoint_store_secret* user_secret, store_secret& secret);
[[nodiscard]] outcome read(const cutpoint_store_settings* user_settings, store_settings& settings);
[[nodiscard]] outcome read(const cutpoint_store_backup_options* user_options, cutpoint_store_backup_options& raw,
                           store_backup_options& options);
[[nodiscard]] outcome read(const cutpoint_store_restore_options* user_options, cutpoint_store_restore_options& raw,
                           store_restore_options& options);
[[nodiscard]] outcome read(const cutpoint_store_check_options* user_options, cutpoint_store_check_options& raw,
                           store_check_options& options);
[[nodiscard]] outcome read(const cutpoint_store_repair_options* user_options, cutpoint_store_repair_options& raw,
                           store_repair_options& options);
[[nodiscard]] outcome read(const cutpoint_store_forget_options* user_options, cutpoint_store_forget_options& raw,
                           forget_rules& rules);
[[nodiscard]] outcome read(const cutpoint_store_tag_options* user_options, cutpoint_store_tag_options& raw,
                           store_tag_options& options);
[[nodiscard]] outcome read(const cutpoint_store_rewrite_options* user_options, cutpoint_store_rewrite_options& raw,
                           store_rewrite_options& options);
[[nodiscard]] outcome read(const cutpoint_store_copy_options* user_options, cutpoint_store_copy_options& raw,
                           store_copy_options& options);
[[nodiscard]] outcome read(const cutpoint_store_diff_options* user_options, cutpoint_store_diff_options& raw,
                           store_diff_options& options);
[[nodiscard]] outcome read(const cutpoint_store_prune_options* user_options, cutpoint_store_prune_options& raw,
                           store_prune_options& options);
[[nodiscard]] outcome read(const cutpoint_push_options* user_options, cutpoint_push_options& raw,
                           store_push_options& options);
/// Of a stream the kind does not count.
[[nodiscard]] outcome read(const cutpoint_pushed_file* user_file, bool is_stream, pushed_file& file);

}  // namespace cutpoint::embed
