// System calls on paths of any length: the kernel takes no path of PATH_MAX bytes (4096) or more in one call.
#pragma once

#include <string>

#include <sys/stat.h>

namespace cutpoint {

/// As open(2), with O_CLOEXEC.
[[nodiscard]] int open_path(const std::string& path, int flags);

/// As stat(2).
[[nodiscard]] int stat_path(const std::string& path, struct stat& facts);

/// A directory and a shorter path beneath it that name the same file as a path of any length.
class short_path {
 public:
  explicit short_path(const std::string& path);
  short_path(const short_path&) = delete;
  short_path& operator=(const short_path&) = delete;
  ~short_path();

  /// For the *at calls: AT_FDCWD or a descriptor that is open as long as this object lives.
  [[nodiscard]] int directory() const noexcept { return directory_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// errno of opening a directory on the way, or 0.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int directory_;
  const char* name_;
  int error_ = 0;
};

}  // namespace cutpoint
