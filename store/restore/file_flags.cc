#include "store/restore/file_flags.h"

#include <cerrno>

#include <cutpoint/tree_entry.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cutpoint::store {

namespace {

constexpr std::uint32_t stored_flags = immutable_flag | append_only_flag | no_dump_flag;
constexpr std::uint32_t protecting_flags = immutable_flag | append_only_flag;

}  // namespace

std::uint32_t flags_of(int file) noexcept {
  int all = 0;  // the kernel reads and writes an int, whatever the type in the name of the call is
  return ::ioctl(file, FS_IOC_GETFLAGS, &all) == 0 ? static_cast<std::uint32_t>(all) & stored_flags : 0;
}

int set_flags(int file, std::uint32_t flags) noexcept {
  int all = 0;
  if (::ioctl(file, FS_IOC_GETFLAGS, &all) != 0) return flags == 0 ? 0 : errno;
  const std::uint32_t wanted = (static_cast<std::uint32_t>(all) & ~stored_flags) | (flags & stored_flags);
  if (wanted == static_cast<std::uint32_t>(all)) return 0;
  all = static_cast<int>(wanted);
  return ::ioctl(file, FS_IOC_SETFLAGS, &all) == 0 ? 0 : errno;
}

bool unprotect(int folder, const char* name) noexcept {
  struct stat facts = {};
  if (::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return false;  // opening a device may have an effect
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const std::uint32_t flags = flags_of(file);
  const bool is_done = (flags & protecting_flags) != 0 && set_flags(file, flags & ~protecting_flags) == 0;
  ::close(file);
  return is_done;
}

}  // namespace cutpoint::store
