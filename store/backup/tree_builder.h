// Builds the folder nodes of a snapshot bottom-up, from entries whose contents become known later.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/store.h>

#include "store/files/store_reading.h"
#include "store/tree/node_list_writer.h"

namespace cutpoint::store {

/// An entry of a folder. Another thread may complete it.
class pending_entry {
 public:
  explicit pending_entry(folder_entry known) : entry(std::move(known)) {}

  folder_entry entry;
  /// Whether the entry is left out because its content could not be read.
  bool is_left_out = false;
  bool is_unchanged = false;  ///< whether the parent snapshot is known to have the same
  /// The digest of what the parent snapshot has under this name, if it must be compared when the content is known.
  std::optional<std::uint64_t> parent_digest;
  /// The first name of the file, which has the content of this one. May be null.
  std::shared_ptr<const pending_entry> first_name;

  /// Appends an extent of the content. Long lists are written to `nodes`. Errors: those of `nodes`.
  [[nodiscard]] status add(const stored_extent& extent, node_receiver& nodes);
  /// Drops the content so far.
  void restart();
  /// Ends the content. The entry must not be changed afterwards. Errors: those of the receiver of nodes.
  [[nodiscard]] status complete();
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_.load(std::memory_order_acquire); }

 private:
  std::optional<node_list_writer> list_;  ///< of the extents, if they are too many for the entry
  std::atomic<bool> is_complete_ = false;
};

/// Takes the entries of a tree depth-first, the entries of each folder sorted by name. Memory: the nodes that are open in
/// each folder on the way to the last entry, and the entries that wait. Not thread-safe.
class tree_builder {
 public:
  /// The arguments must outlive the builder. `left_out` is told of each name whose file was left out under its first name.
  tree_builder(node_receiver& nodes, problem_function left_out);

  /// Adds a folder and enters it.
  void enter(folder_entry folder);
  /// Returns to the folder above.
  void leave();
  /// Adds an entry that is not a folder. `path` names it in messages.
  void add(std::shared_ptr<pending_entry> entry, std::string path);

  /// Writes what is complete. Errors: those of the receiver.
  [[nodiscard]] status write_complete();
  /// Returns how many entries were written that are no folders.
  [[nodiscard]] const store_backup_counts& counts() const noexcept { return counts_; }
  /// Returns the number of steps that wait for an entry.
  [[nodiscard]] std::size_t waiting() const noexcept { return steps_.size(); }
  /// Ends the tree, whose entries must all be complete, and returns its root. Errors: those of the receiver.
  [[nodiscard]] result<record_reference> finish();

 private:
  struct open_folder {
    folder_entry entry;
    node_list_writer entries;
  };
  /// Entering a folder, adding an entry, or leaving the folder, which has neither.
  struct step {
    std::optional<folder_entry> folder;
    std::shared_ptr<pending_entry> entry;
    std::string path;
  };

  [[nodiscard]] status perform(step next);
  [[nodiscard]] status write_entry(const step& next);

  node_receiver& nodes_;
  problem_function left_out_;
  store_backup_counts counts_;
  std::deque<step> steps_;
  std::vector<open_folder> folders_;  ///< the first is the root
};

}  // namespace cutpoint::store
