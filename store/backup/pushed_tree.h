// The tree of a push session, whose entries come in any order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/store_push.h>

#include "store/backup/tree_builder.h"
#include "store/objects/snapshot.h"

namespace cutpoint::store {

/// Returns what is stored of a file that has no content yet; its name is not known. Errors: invalid_argument, for metadata that
/// a snapshot cannot have.
[[nodiscard]] result<folder_entry> entry_of(const pushed_file& file);

/// Splits a path such as "/vm/disk" into its names. Errors: invalid_argument, for a path that a snapshot cannot have.
[[nodiscard]] result<std::vector<std::string_view>> names_in_path(std::string_view path);

/// Keeps the entries until all are known. Folders that are missing are made. Not thread-safe.
class pushed_tree {
 public:
  /// `missing_folder` describes a folder of which nothing is known; its name is not used.
  explicit pushed_tree(folder_entry missing_folder) : missing_folder_(std::move(missing_folder)) {}

  /// From now on entries must be at or below one of the paths.
  void confine(std::vector<std::string> paths) { paths_ = std::move(paths); }

  /// Adds an entry, which may be completed later. A folder has the entries that were added below it before. Errors:
  /// invalid_argument, for a path that a snapshot cannot have, that is there already, that leads
  /// through a file, or that is below no path of `confine`. An entry that
  /// is left out is not there.
  [[nodiscard]] status add(const std::string& path, std::shared_ptr<pending_entry> entry);

  /// Stores the tree, whose entries must be complete. Returns its root, and counts its files, folders and bytes. Errors: those
  /// of `nodes`.
  [[nodiscard]] result<record_reference> store(node_receiver& nodes, snapshot_statistics& counts) const;

 private:
  /// A file, or a folder.
  struct branch {
    std::shared_ptr<pending_entry> entry;  ///< null for a folder that was not added
    std::map<std::string, std::unique_ptr<branch>, std::less<>> entries = {};

    [[nodiscard]] bool is_folder() const noexcept { return !entry || entry->entry.kind == file_kind::directory; }
  };

  [[nodiscard]] status store_entries(const branch& folder, tree_builder& builder, snapshot_statistics& counts) const;

  folder_entry missing_folder_;
  std::vector<std::string> paths_ = {"/"};
  branch root_;
};

}  // namespace cutpoint::store
