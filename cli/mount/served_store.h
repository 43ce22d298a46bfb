// What the requests to a mounted store work on: what it shows, folders that are open, facts of files.
//
// Apart because the calls of FUSE and the tree that they show would have more than 600 lines together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cutpoint/store_view.h>
#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

// --- What is shown ---------------------------------------------------------------------------------------------------

/// A folder, a symbolic link, or a snapshot with its files.
struct shown_entry {
  enum class kind { folder, link, snapshot };

  kind what = kind::folder;
  std::string text;       ///< the target of a link, or the id of a snapshot
  std::int64_t time = 0;  ///< of the snapshot, or of the newest one in a folder: nanoseconds since 1970
  std::map<std::string, std::shared_ptr<shown_entry>> entries;  ///< of a folder
};

/// Where a path of the mount leads to: an entry above the snapshots, or a file of a snapshot.
struct shown_place {
  std::shared_ptr<const shown_entry> entry;
  std::string path_in_snapshot;  ///< empty for the snapshot itself
};

/// The tree of entries, with the snapshots that the store has now. Thread-safe.
///
/// A path that has led to a snapshot never leads to another one as long as the object exists, so that what a kernel keeps
/// of a file stays true. Snapshots of the same second are told apart by a number at the end of their names.
class shown_tree {
 public:
  /// The view must outlive the tree. `problem` receives snapshots that cannot be read, and why the store cannot be listed.
  shown_tree(store_view& view, store_problem problem);

  /// Finds what is at a path such as "/ids/0123.../home". Returns nullopt if nothing is there. Whether the path in a
  /// snapshot exists is not looked up. The store is asked for new snapshots at most once a second.
  [[nodiscard]] std::optional<shown_place> find(std::string_view path);

 private:
  [[nodiscard]] std::shared_ptr<const shown_entry> root();
  [[nodiscard]] std::shared_ptr<const shown_entry> build(const std::vector<store_snapshot>& snapshots);
  [[nodiscard]] const std::string& name_of(const store_snapshot& snapshot);

  store_view& view_;
  store_problem problem_;
  std::mutex mutex_;  ///< for everything below
  std::chrono::steady_clock::time_point listed_at_;
  std::vector<std::string> ids_;              ///< of the snapshots that the tree has
  std::map<std::string, std::string> names_;  ///< by id, of all snapshots that were ever shown
  std::set<std::string> used_names_;
  std::shared_ptr<const shown_entry> root_;
};

// --- Facts of files --------------------------------------------------------------------------------------------------

/// Returns the metadata of a file of a snapshot. Names of one file have one inode, and any other two files have two:
/// programs take files with equal inodes for names of one file, and folders that have the inode of one above for loops.
[[nodiscard]] struct stat facts_of(const file_metadata& file, const std::string& snapshot, const std::string& path);

/// Returns the metadata of what is above the files, at a path of the mount. It belongs to the user of this process.
[[nodiscard]] struct stat facts_of(const shown_entry& shown, std::string_view path);

// --- The store -------------------------------------------------------------------------------------------------------

/// Thread-safe. Functions that return a number return 0 or more, or -errno, as libfuse wants it.
class served_store {
 public:
  /// The arguments must outlive the object.
  served_store(store_view& view, const console& say);

  [[nodiscard]] store_view& view() noexcept { return view_; }
  [[nodiscard]] shown_tree& tree() noexcept { return tree_; }

  /// Finds a file of a snapshot by a path of the mount. Errors: ENOENT, also for what is above the files; as for
  /// `store_view::find`.
  [[nodiscard]] result<viewed_file> file_at(const char* path);
  /// Returns the error number of a failure. What is no fault of the reader is reported.
  [[nodiscard]] int failed(std::string_view path, const status& why);

  /// Keeps what a program opened until it closes it, or until nothing is served any more: a mount that is ended while files
  /// are open is never told that they were closed. Returns the object, by which `close` knows it.
  [[nodiscard]] void* keep_open(std::shared_ptr<void> object);
  void close(void* object);

 private:
  void report(const std::string& path, const status& why);

  store_view& view_;
  const console& say_;
  shown_tree tree_;
  std::mutex mutex_;  ///< for everything below
  std::string last_message_;
  std::unordered_map<void*, std::shared_ptr<void>> open_;
};

// --- Open folders ----------------------------------------------------------------------------------------------------

/// Its entries are numbered, so that a program can go on where its buffer was full, or go back. Thread-safe.
class opened_folder {
 public:
  /// Takes an entry and the number of the next one. Returns false, and has not taken the entry, if the buffer is full.
  using fill_function = std::function<bool(const std::string& name, const struct stat& facts, off_t next)>;

  /// `served` must outlive the folder.
  opened_folder(served_store& served, std::string path, shown_place place);

  /// Calls `fill` with the entries from number `begin` on, until it returns false. Returns 0 or -errno: if an entry cannot
  /// be read, the others are given first.
  [[nodiscard]] int read(off_t begin, const fill_function& fill);

 private:
  [[nodiscard]] int read_shown(off_t begin, const fill_function& fill);
  [[nodiscard]] int read_stored(off_t begin, const fill_function& fill);
  [[nodiscard]] int rewind();

  served_store& served_;
  std::string path_;
  shown_place place_;
  std::mutex mutex_;  ///< for everything below
  std::optional<viewed_folder> entries_;
  std::optional<viewed_file> waiting_;  ///< the entry `next_`, if it was read and not taken yet
  off_t next_ = 0;
  int failure_ = 0;  ///< of an entry that cannot be read
};

}  // namespace cutpoint::cli
