#include "host/io/open_entry.h"

#include <cerrno>
#include <climits>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cutpoint {

int open_entry(const tree_entry& entry, int flags, struct stat& facts) {
  const bool may_be_link = entry.follows_link && entry.kind != file_kind::symbolic_link;
  const int all_flags = flags | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW);
  const int file =
      entry.folder >= 0 ? ::openat(entry.folder, entry.name(), all_flags) : open_path(entry.path, all_flags);
  if (file < 0) {
    if (errno == ELOOP && !may_be_link) errno = ESTALE;  // the name is a link now
    return -1;
  }
  const int error = ::fstat(file, &facts) != 0 ? errno : 0;
  if (error == 0 && facts.st_dev == entry.device && facts.st_ino == entry.inode) return file;
  ::close(file);
  errno = error != 0 ? error : ESTALE;
  return -1;
}

status entry_failure(std::string_view path, std::string_view done, int error) {
  if (error != ESTALE) return system_failure(path, done, error);
  return {status_code::io_error, fmt::format("{}: was replaced by another file while it was walked", path), ESTALE};
}

bool has_descriptor_paths() noexcept {
  static const bool is_there = ::access("/proc/self/fd", X_OK) == 0;
  return is_there;
}

// Opens a long path directory by directory, with as many names at a time as one system call accepts.

short_path::short_path(const std::string& path) : directory_(AT_FDCWD), name_(path.c_str()) {
  const char* const end = name_ + path.size();
  while (end - name_ >= PATH_MAX) {
    const std::size_t slash = std::string_view(name_, PATH_MAX - 1).rfind('/');
    if (slash == std::string_view::npos) return;  // no directory has such a long name: the caller's call fails
    const std::string above(name_, slash + 1);
    const int next = ::openat(directory_, above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (next < 0) {
      error_ = errno;
      return;
    }
    if (directory_ != AT_FDCWD) ::close(directory_);
    directory_ = next;
    name_ += slash + 1;
    name_ += std::strspn(name_, "/");
  }
  if (directory_ != AT_FDCWD && name_ == end) name_ = ".";
}

short_path::~short_path() {
  if (directory_ != AT_FDCWD) ::close(directory_);
}

namespace {

template <class Call>
int call_with_short_path(const std::string& path, Call call) {
  int outcome = -1;
  int error = 0;
  {
    const short_path shortened(path);
    error = shortened.error();
    if (error == 0) outcome = call(shortened.directory(), shortened.name());
    if (outcome < 0 && error == 0) error = errno;
  }
  if (outcome < 0) errno = error;
  return outcome;
}

}  // namespace

int open_path(const std::string& path, int flags) {
  return call_with_short_path(
      path, [&](int directory, const char* name) { return ::openat(directory, name, flags | O_CLOEXEC); });
}

int stat_path(const std::string& path, struct stat& facts) {
  return call_with_short_path(path,
                              [&](int directory, const char* name) { return ::fstatat(directory, name, &facts, 0); });
}

}  // namespace cutpoint
