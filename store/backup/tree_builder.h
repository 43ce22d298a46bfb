// The trees of a backup: built bottom-up from entries whose contents become known later, pushed in any order, and the parent's.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/store.h>
#include <cutpoint/store_push.h>
#include <cutpoint/tree_entry.h>

#include "store/objects/small_object.h"
#include "store/session/store_reading.h"
#include "store/tree/node_walk.h"

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

  /// Appends an extent of the content. Equal chunks in a row become a run. Long lists are written to `nodes`, which must live until
  /// `complete` or `restart`. Errors: those of `nodes`.
  [[nodiscard]] status add(const stored_extent& extent, node_receiver& nodes);
  /// Drops the content so far.
  void restart();
  /// Ends the content. The entry must not be changed afterwards. Errors: those of the receiver of nodes.
  [[nodiscard]] status complete();
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] status append(const stored_extent& extent, node_receiver& nodes);

  std::optional<stored_extent> last_;     ///< to which the next one may belong
  node_receiver* nodes_ = nullptr;        ///< of `last_`
  std::optional<node_list_writer> list_;  ///< of the extents, if they are too many for the entry
  std::atomic<bool> is_complete_ = false;
};

/// Takes the entries of a tree depth-first, the entries of each folder sorted by name. Memory: the nodes that are open in
/// each folder on the way to the last entry, and the entries that wait. Not thread-safe.
class tree_builder {
 public:
  /// The arguments must outlive the builder. `left_out` is told of each name whose file was left out under its first name.
  tree_builder(node_receiver& nodes, problem_function left_out);

  void enter(folder_entry folder);
  /// Returns to the folder above.
  void leave();
  /// Adds an entry that is not a folder. `path` names it in messages.
  void add(std::shared_ptr<pending_entry> entry, std::string path);

  /// Writes what is complete. Errors: those of the receiver.
  [[nodiscard]] status write_complete();
  /// Returns how many entries were written that are no folders.
  [[nodiscard]] const store_backup_counts& counts() const noexcept { return counts_; }
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
/// trusted (`file_systems`). Then its content and its extended attributes are the same too.
[[nodiscard]] bool is_unchanged(const folder_entry& stored, const tree_entry& entry) noexcept;

/// Returns what is stored of a file that has no content yet; its name is not known. Errors: invalid_argument, for metadata that
/// a snapshot cannot have.
[[nodiscard]] result<folder_entry> entry_of(const pushed_file& file);

/// The most bytes of a name that a backup takes: no file system that a restore can write to has longer ones (NAME_MAX).
inline constexpr std::size_t longest_name = 255;

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
