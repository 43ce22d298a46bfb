// Opens a long path directory by directory, with as many names at a time as one system call accepts.
#include "host/io/long_path.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace cutpoint {

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
