// The options that say among which snapshots a command looks.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/store.h>
#include <cutpoint/store_policy.h>

#include "cli/common/console.h"
#include "cli/common/options.h"

namespace cutpoint::cli {

/// --host, --path and --tag.
class snapshot_options {
 public:
  void add_to(option_list& options);

  [[nodiscard]] snapshot_filter filter() const;
  [[nodiscard]] bool is_any_given() const { return !hosts_.empty() || !paths_.empty() || !tags_.empty(); }

 private:
  std::vector<std::string> hosts_;
  std::vector<std::string> paths_;
  std::vector<std::string> tags_;
};

/// The snapshots that a command works on.
struct chosen_snapshots {
  std::vector<store_snapshot> snapshots;
  bool is_whole = true;  ///< whether none was left out that could not be found or read, which was said
};

/// Finds the snapshots that are named, or without names all, among those that the options choose. Errors: those of
/// `backup_store::snapshots`.
[[nodiscard]] result<chosen_snapshots> choose_snapshots(const console& say, backup_store& store,
                                                        const std::vector<std::string>& ids,
                                                        const snapshot_filter& filter);

/// Splits a list at its commas, and removes the spaces around its words.
[[nodiscard]] std::vector<std::string> words_of(std::string_view list);
/// Reads the list of --group-by. Errors: invalid_argument.
[[nodiscard]] result<snapshot_grouping> checked_grouping(const std::string& list);
/// Returns a line on what the snapshots of a group have in common.
[[nodiscard]] std::string heading_of(const snapshot_group& group);

/// A snapshot and perhaps a path in it: `SNAPSHOT[:PATH]`.
struct snapshot_path {
  store_snapshot snapshot;
  std::string path;
};

/// Finds the snapshot of `SNAPSHOT[:PATH]`. Errors: those of `backup_store::find_snapshot`.
[[nodiscard]] result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text,
                                                       const snapshot_options& among);

}  // namespace cutpoint::cli
