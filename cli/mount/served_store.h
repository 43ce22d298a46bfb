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
#include <utility>
#include <vector>

#include <cutpoint/fingerprint.h>
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

/// The tree of entries, with the snapshots that the store has now. Thread-safe.
///
/// A path that has led to a snapshot never leads to another one as long as the object exists, so that what a kernel keeps
/// of a file stays true. Snapshots of the same second are told apart by a number at the end of their names.
class shown_tree {
 public:
  /// The view must outlive the tree. `problem` receives snapshots that cannot be read, and why the store cannot be listed.
  shown_tree(store_view& view, store_problem problem);

  /// Finds what is at a path such as "/ids/0123...". Returns null if nothing is there, also for files of snapshots. The
  /// store is asked for new snapshots at most once a second.
  [[nodiscard]] std::shared_ptr<const shown_entry> find(std::string_view path);

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

// --- Numbers of entries ----------------------------------------------------------------------------------------------

/// An entry of the mount: a file of a snapshot, or one above.
struct served_entry {
  std::string path;                          ///< of the mount; "/" for its root
  std::shared_ptr<const shown_entry> shown;  ///< of a file its snapshot
  std::size_t shown_bytes = 0;               ///< length of the beginning of `path` that leads to `shown`
  std::optional<viewed_file> file;           ///< of what is below a snapshot

  [[nodiscard]] std::string path_in_snapshot() const { return path.substr(shown_bytes); }
  /// Returns the path of an entry of this folder.
  [[nodiscard]] std::string path_of(const std::string& name) const { return (path == "/" ? path : path + '/') + name; }
  /// Returns an entry of this folder, if files of a snapshot are in it.
  [[nodiscard]] served_entry below(viewed_file file_below) const {
    return {path_of(file_below.name()), shown, shown_bytes, std::move(file_below)};
  }
  /// Returns an entry of this folder, if it is above the snapshots.
  [[nodiscard]] served_entry above(const std::string& name, std::shared_ptr<const shown_entry> entry) const {
    std::string path_of_entry = path_of(name);
    const std::size_t bytes = path_of_entry.size();
    return {std::move(path_of_entry), std::move(entry), bytes, std::nullopt};
  }
  [[nodiscard]] struct stat facts() const;
};

/// The numbers by which the kernel calls the entries that it knows. It counts how often it has got the number of an entry,
/// and says when it has forgotten it. Thread-safe.
///
/// A folder may have millions of entries, all of which the kernel knows after a listing. So memory is not taken for each but
/// for each node of a folder's list, which has hundreds of entries: the number of an entry is that of the node, followed by
/// 16 bits for the entry in the node. What is above the snapshots is few, and is known by paths. No number is used again.
class entry_numbers {
 public:
  static constexpr std::uint64_t root = 1;

  /// What a number was given to: the entry at `place` of a folder, or above the files an entry of which only the path is known.
  struct known_entry {
    served_entry folder_or_path;
    std::optional<viewed_place> place;
  };

  /// Returns the number of an entry in the folder with the number `folder_number`, and counts it once more.
  [[nodiscard]] std::uint64_t add(std::uint64_t folder_number, const served_entry& folder, const served_entry& entry);
  /// Returns nullopt if the kernel has forgotten the number.
  [[nodiscard]] std::optional<known_entry> find(std::uint64_t number) const;
  /// Takes back what was counted `count` times.
  void forget(std::uint64_t number, std::uint64_t count);

 private:
  static constexpr int entry_bits = 16;
  static constexpr std::uint64_t shown_flag = std::uint64_t{1} << 63;  ///< of the numbers above the snapshots

  struct node_key {
    std::uint64_t folder_number;
    digest node;
    friend bool operator==(const node_key&, const node_key&) = default;
  };
  struct node_hash {
    std::size_t operator()(const node_key& key) const noexcept;
  };
  struct known_node {
    std::uint64_t folder_number = 0;
    served_entry folder;  ///< without its file
    viewed_place place;   ///< of its first entry
    std::uint64_t count = 0;
  };
  struct known_path {
    std::string path;
    std::uint64_t count = 0;
  };

  mutable std::mutex mutex_;  ///< for everything below
  std::uint64_t next_node_ = 1;
  std::uint64_t next_path_ = 0;
  std::unordered_map<std::uint64_t, known_node> nodes_;
  std::unordered_map<node_key, std::uint64_t, node_hash> node_numbers_;
  std::unordered_map<std::uint64_t, known_path> paths_;
  std::unordered_map<std::string, std::uint64_t> path_numbers_;
};

// --- The store -------------------------------------------------------------------------------------------------------

/// Thread-safe. Functions that return an int return 0 or an error number, as libfuse wants it.
class served_store {
 public:
  /// The arguments must outlive the object.
  served_store(store_view& view, const console& say);

  [[nodiscard]] store_view& view() noexcept { return view_; }
  [[nodiscard]] entry_numbers& numbers() noexcept { return numbers_; }

  /// Finds the entry with a number. Errors: ESTALE, if the kernel has forgotten it; ENOENT, if it is no longer shown; EIO.
  [[nodiscard]] int find(std::uint64_t number, served_entry& entry);
  /// Finds an entry of a folder by its name. Errors: ENOENT, EIO.
  [[nodiscard]] int find_in(const served_entry& folder, const std::string& name, served_entry& entry);
  /// Returns the file of a folder of a snapshot, or of the snapshot itself, which is a folder. Errors: as for `store_view::find`.
  [[nodiscard]] result<viewed_file> stored_folder(const served_entry& folder);
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
  entry_numbers numbers_;
  std::mutex mutex_;  ///< for everything below
  std::string last_message_;
  std::unordered_map<void*, std::shared_ptr<void>> open_;
};

// --- Open folders ----------------------------------------------------------------------------------------------------

/// Its entries are counted, so that a program can go on where its buffer was full, or go to any entry that it has seen. Thread-safe.
class opened_folder {
 public:
  /// Takes the entry `name`, and the count of entries with it. `entry` is null for "." and "..". Returns false, and has not
  /// taken the entry, if the buffer is full.
  using fill_function =
      std::function<bool(const std::string& name, const struct stat& facts, const served_entry* entry, off_t next)>;

  /// `served` must outlive the folder.
  opened_folder(served_store& served, served_entry folder);

  [[nodiscard]] const served_entry& entry() const noexcept { return folder_; }
  /// Calls `fill` with the entries behind the first `begin`, until it returns false. Returns 0 or an error number: if an entry
  /// cannot be read, the others are given first.
  [[nodiscard]] int read(off_t begin, const fill_function& fill);

 private:
  [[nodiscard]] int read_shown(off_t begin, const fill_function& fill);
  [[nodiscard]] int read_stored(off_t begin, const fill_function& fill);
  [[nodiscard]] int go_to(off_t begin);

  served_store& served_;
  served_entry folder_;
  std::mutex mutex_;  ///< for everything below
  std::optional<viewed_folder> entries_;
  std::optional<served_entry> waiting_;  ///< the entry `next_`, if it was read and not taken yet
  off_t next_;
  /// The names of some of the entries that were read, each a fixed number of entries behind the one before: from there
  /// the folder is read again if a program goes back.
  std::vector<std::string> marks_;
  int failure_ = 0;  ///< of an entry that cannot be read
};

}  // namespace cutpoint::cli
