// Opens paths of any length, and what a walk has found, so that nobody can put another file into its place.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

namespace cutpoint {

/// Opens the file of an entry with open(2)'s flags and O_CLOEXEC, during the walk's call. The name is opened in the folder's
/// descriptor, and a symbolic link is not followed unless the walk followed it. Returns -1 and sets errno on failure:
/// ESTALE, if the name belongs to another file now.
[[nodiscard]] int open_entry(const tree_entry& entry, int flags, struct stat& facts);

/// Returns whether paths below /proc/self/fd lead to open files. Some calls take no descriptor of what was opened with O_PATH, and
/// need such a path; in a sandbox there may be none. Asked once.
[[nodiscard]] bool has_descriptor_paths() noexcept;

/// Returns the failure of a call on an entry, as `system_failure` does; ESTALE says that the file was replaced.
[[nodiscard]] status entry_failure(std::string_view path, std::string_view done, int error);

/// Opens a file as open(2) does, with O_CLOEXEC.
[[nodiscard]] int open_path(const std::string& path, int flags);

/// Reads the metadata of a file as stat(2) does.
[[nodiscard]] int stat_path(const std::string& path, struct stat& facts);

/// Converts a path of any length to an open directory and a shorter path below it that names the same file.
class short_path {
 public:
  explicit short_path(const std::string& path);
  short_path(const short_path&) = delete;
  short_path& operator=(const short_path&) = delete;
  ~short_path();

  /// Returns the directory for the *at calls: AT_FDCWD, or a descriptor that this object closes when it is destroyed.
  [[nodiscard]] int directory() const noexcept { return directory_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// Returns the errno of a directory of the path that could not be opened, or 0.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int directory_;
  const char* name_;
  int error_ = 0;
};

}  // namespace cutpoint
