// What a backup knows of a file: the path that it is stored under, its description and its links, and whether it has changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
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
/// which is stored when it can be trusted, its device, which older versions stored, and what a folder has.
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

/// What an equal ctime says of a file on a file system.
enum class change_time_kind {
  kept,     ///< the file system sets it at each change, so the file has not changed
  unknown,  ///< the same, if it is not the time of modification: file systems without a ctime show that one in its place
  none,     ///< nothing: the file system keeps none
};

/// Returns what is known of the file system that statfs(2) names by this number.
[[nodiscard]] change_time_kind change_time_kind_of(std::uint32_t file_system) noexcept;

/// Knows each file system that a backup meets. Not thread-safe.
class file_systems {
 public:
  /// Returns the ctime of an entry whose content will be read after this call, or zero if it cannot be trusted: the file may
  /// change after it was read and have the same ctime, size and mtime.
  [[nodiscard]] std::timespec trusted(const tree_entry& entry);
  /// Returns whether an entry has not changed if it has the ctime that is stored.
  [[nodiscard]] bool is_evidence(const tree_entry& entry);
  /// Returns whether the file system of an entry keeps extended attributes.
  [[nodiscard]] bool has_attributes(const tree_entry& entry) { return file_system_of_entry(entry).has_attributes; }
  /// Returns the number by which statfs(2) names the file system of an entry, or 0.
  [[nodiscard]] std::uint32_t magic_of(const tree_entry& entry) { return file_system_of_entry(entry).magic; }

 private:
  struct file_system {
    std::uint32_t magic;
    std::chrono::seconds margin;
    change_time_kind kind;
    bool has_attributes;
  };
  const file_system& file_system_of_entry(const tree_entry& entry);

  std::map<std::uint64_t, file_system> known_;  ///< by device
};

/// A file that is about to be added to the tree.
struct described_file {
  std::shared_ptr<pending_entry> entry;
  bool is_reused = false;                     ///< whether it has content, which the parent has
  std::unique_ptr<file_source> content = {};  ///< the content, if it must be read
  std::optional<std::size_t> link = {};       ///< the number of the file in `hard_links`, if it has several names
};

/// Compares files with those of the parent. Not thread-safe.
class file_description {
 public:
  /// `problem` receives what makes attributes incomplete. Those of an incomplete parent are read again, since it may lack some.
  /// `cancel` may be null.
  file_description(parent_tree& parent, bool is_parent_incomplete, const store_backup_options& options,
                   problem_function problem)
      : parent_(parent),
        is_parent_incomplete_(is_parent_incomplete),
        options_(options),
        problem_(std::move(problem)),
        links_(options.cancel) {}

  /// Returns the entry of a file whose content must be read after this call. Its device is 0, so that equal trees have equal
  /// bytes, wherever they are mounted.
  [[nodiscard]] folder_entry entry_of(const tree_entry& walked);
  /// Describes a file that is no folder, and opens it if its content must be read. `stored` is what the parent has of it, or
  /// null. Errors: io_error; ESTALE, if the name belongs to another file now; cancelled.
  [[nodiscard]] result<described_file> describe(const tree_entry& walked, const folder_entry* stored);
  /// Reads the attributes of the file that is open, or else of the one that was walked. Reports what makes them incomplete.
  /// Errors: those after which the file may be described again.
  [[nodiscard]] status add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                      const file_source* content);
  /// Notes the first name of a file with several. Returns whether this is the first one.
  bool is_first_name(const described_file& file);

 private:
  [[nodiscard]] bool is_known_unchanged(const folder_entry& stored, const tree_entry& walked);
  [[nodiscard]] std::uint64_t device_of(const tree_entry& walked, std::size_t rank);

  parent_tree& parent_;
  bool is_parent_incomplete_;
  const store_backup_options& options_;
  problem_function problem_;
  bool has_reported_host_ = false;  ///< that it has no way to the attributes of special files
  file_systems file_systems_;
  hard_links links_;
  std::map<std::size_t, std::shared_ptr<const pending_entry>> first_names_;  ///< by the number of the file in links_
  /// The numbers that stand for devices, by device and rank (`hard_links`), in the order of the walk.
  std::map<std::pair<std::uint64_t, std::size_t>, std::uint64_t> devices_;
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
