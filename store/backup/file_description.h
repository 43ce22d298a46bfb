// What a backup knows of a file: the path that it is stored under, its description and its links, and whether it has changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/store.h>
#include <cutpoint/tree_entry.h>

#include "store/backup/tree_builder.h"
#include "store/tree/node.h"

namespace cutpoint::store {

/// Returns a digest of everything that is stored of an entry, except what changes without a change of the file: its ctime,
/// which is stored when it can be trusted, the number of its file system, and what a folder has.
[[nodiscard]] std::uint64_t change_digest(const folder_entry& entry);

/// How much older than the kernel's clock for time stamps a ctime must be so that a later change cannot leave the same one.
/// The coarsest file systems keep even seconds (FAT).
inline constexpr std::chrono::seconds local_change_margin{2};
/// The same where another machine sets the times, or where nobody knows which does. Kerberos requires clocks that differ by
/// five minutes at most, and so do network file systems that use it.
inline constexpr std::chrono::seconds remote_change_margin{300};

/// Returns `changed`, or zero if it is not older than `now` by the margin. A ctime in the future is never old enough.
[[nodiscard]] std::timespec trusted_change_time(const std::timespec& changed, const std::timespec& now,
                                                std::chrono::seconds margin) noexcept;

/// Knows the margin of each file system that a backup meets. Not thread-safe.
class change_times {
 public:
  /// Returns the ctime of an entry whose content will be read after this call, or zero if it cannot be trusted: the file may
  /// change after it was read and have the same ctime, size and mtime.
  [[nodiscard]] std::timespec trusted(const tree_entry& entry);

 private:
  std::map<std::uint64_t, std::chrono::seconds> margins_;  ///< by device
};

/// A file that is about to be added to the tree.
struct described_file {
  std::shared_ptr<pending_entry> entry;
  bool is_reused = false;                     ///< whether it has content, which the parent has
  std::unique_ptr<file_source> content = {};  ///< the content, if it must be read
};

/// Compares files with those of the parent. Not thread-safe.
class file_description {
 public:
  /// `problem` receives what makes attributes incomplete. Those of an incomplete parent are read again, since it may lack some.
  /// `cancel` may be null.
  file_description(parent_tree& parent, bool is_parent_incomplete, const cancellation* cancel, problem_function problem)
      : parent_(parent), is_parent_incomplete_(is_parent_incomplete), cancel_(cancel), problem_(std::move(problem)) {}

  /// Returns the entry of a file whose content must be read after this call.
  [[nodiscard]] folder_entry entry_of(const tree_entry& walked);
  /// Describes a file that is no folder, and opens it if its content must be read. `stored` is what the parent has of it, or
  /// null. Errors: io_error; ESTALE, if the name belongs to another file now; cancelled.
  [[nodiscard]] result<described_file> describe(const tree_entry& walked, const folder_entry* stored);
  /// Reads the attributes of the file that is open, or else of the one that was walked. Reports what makes them incomplete.
  /// Errors: those after which the file may be described again.
  [[nodiscard]] status add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                      const file_source* content);
  /// Notes the first name of a file with several. Returns whether this is the first one. A later file that has got its inode, as its
  /// ctime shows, is described as one with a single name.
  bool is_first_name(const tree_entry& walked, const std::shared_ptr<pending_entry>& entry);

 private:
  struct first_name {
    std::shared_ptr<const pending_entry> entry;
    std::timespec changed;
  };

  parent_tree& parent_;
  bool is_parent_incomplete_;
  const cancellation* cancel_;
  problem_function problem_;
  change_times change_times_;
  /// First names of files with several, by device and inode.
  std::map<std::pair<std::uint64_t, std::uint64_t>, first_name> first_names_;
};

/// A path that a backup stores, whatever its options leave out.
struct named_path {
  std::string path;        ///< absolute, without "." and ".." and without a slash at its end
  bool is_folder = false;  ///< whether the path has a slash at its end, so that a link is followed
  bool is_standard_input = false;

  friend bool operator==(const named_path&, const named_path&) = default;
};

/// Returns whether a walk meets the path `a` before `b`: a folder comes before what is in it.
[[nodiscard]] bool is_before(const std::string& a, const std::string& b);
[[nodiscard]] bool is_below(const std::string& path, const std::string& folder);

/// Returns the paths that are named, in the order of a walk, each once. Errors: io_error, if the working folder is unknown;
/// invalid_argument, if a path lies below a link that is stored as a link.
[[nodiscard]] result<std::vector<named_path>> named_paths(const store_backup_options& options);
/// Returns those that do not lie below another one, which a snapshot lists.
[[nodiscard]] std::vector<std::string> outermost_paths(const std::vector<named_path>& named);

}  // namespace cutpoint::store
