// The tree of the parent snapshot, in which a backup looks for unchanged files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/tree_entry.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Follows a walk through the tree of another snapshot. What cannot be read counts as absent. Not thread-safe.
class parent_tree {
 public:
  /// Without a root nothing is found. `shards` of `store` must not be used by another thread.
  [[nodiscard]] static result<parent_tree> make(const store_reading& store, std::optional<record_reference> root);

  /// Returns the entry of the present folder called `name`, or null. The names of a folder must be asked for in order. The
  /// entry is valid until the next call.
  [[nodiscard]] const folder_entry* find(std::string_view name);
  /// Enters the folder that `stored` is, or a folder that the parent does not have if it is null.
  void enter(const folder_entry* stored);
  void leave();
  /// Returns whether a folder that was entered has an entry that was not asked for, among those that were passed over.
  /// Leaves all folders first: this is the last call.
  [[nodiscard]] bool has_removed_entries();

  /// Returns whether all records of a file's content exist, and have its size together.
  [[nodiscard]] bool has_all_records(const folder_entry& stored);

 private:
  struct folder {
    std::optional<folder_cursor> entries;
    std::optional<folder_entry> next;  ///< the last entry that was read
    bool is_next_present = false;      ///< whether `find` has returned it
  };

  parent_tree(const store_reading& store, record_fingerprinter check)
      : store_(store),
        nodes_(std::make_unique<record_reader>(store.objects, store.key, store.shards, std::move(check))) {}

  void push(std::optional<record_reference> node);
  [[nodiscard]] bool pass_entry(folder& here);

  store_reading store_;
  std::unique_ptr<record_reader> nodes_;
  std::vector<folder> folders_;
  bool has_removed_entries_ = false;
};

/// Returns whether two times are equal.
[[nodiscard]] bool is_same(const std::timespec& a, const std::timespec& b) noexcept;

/// Returns whether an entry has the kind, size, mtime, ctime and inode that it had when it was stored, and the ctime was
/// trusted (`change_times`). Then its content and its extended attributes are the same too.
[[nodiscard]] bool is_unchanged(const folder_entry& stored, const tree_entry& entry) noexcept;

}  // namespace cutpoint::store
