#include "host/io/open_entry.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "host/io/long_path.h"

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

}  // namespace cutpoint
