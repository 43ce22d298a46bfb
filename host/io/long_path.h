// System calls on paths of any length. The kernel refuses paths of PATH_MAX bytes (4096) or more in one call.
#pragma once

#include <string>

#include <sys/stat.h>

namespace cutpoint {

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
