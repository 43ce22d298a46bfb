#include "store/restore/set_metadata.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <cutpoint/tree_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/io/open_entry.h"

namespace cutpoint::store {

namespace {

constexpr std::array<const char*, 2> access_lists = {"system.posix_acl_access", "system.posix_acl_default"};

/// Returns 0 after a call that failed because there is no such attribute, and -1 after any other.
int unless_absent() noexcept { return errno == ENODATA || errno == ENOTSUP ? 0 : -1; }

/// The calls in the only order that works: changing the owner clears set-ID bits and capabilities, an ACL changes the
/// permissions, and everything changes the ctime.
template <class SetOwner, class RemoveList, class SetAttribute, class SetPermissions, class SetTimes, class Describe>
std::vector<metadata_failure> set_all(const folder_entry& entry, SetOwner set_owner, RemoveList remove_list,
                                      SetAttribute set_attribute, SetPermissions set_permissions, SetTimes set_times,
                                      Describe describe) {
  std::vector<metadata_failure> failures;
  const auto check = [&](int outcome, std::string what) {
    if (outcome != 0) failures.push_back({std::move(what), errno});
    return outcome == 0;
  };
  const bool is_owner_set = check(set_owner(entry.user_id, entry.group_id), "owner");
  // A list that the folder passed on, or that was there before, would permit what the entry does not.
  for (const char* const list : access_lists) {
    const bool is_stored = std::ranges::any_of(entry.attributes, [&](const auto& each) { return each.name == list; });
    if (!is_stored && entry.kind != file_kind::symbolic_link) check(remove_list(list), "access control list");
  }
  for (const extended_attribute& each : entry.attributes) {
    check(set_attribute(each.name.c_str(), each.value.data(), each.value.size()), "extended attribute " + each.name);
  }
  constexpr std::uint32_t set_id_bits = S_ISUID | S_ISGID;
  const std::uint32_t permissions = is_owner_set ? entry.permissions : entry.permissions & ~set_id_bits;
  if (entry.kind != file_kind::symbolic_link) check(set_permissions(static_cast<mode_t>(permissions)), "permissions");
  const std::array<std::timespec, 2> times = {std::timespec{0, UTIME_OMIT},
                                              entry.modified};  // no time of access is stored
  check(set_times(times.data()), "time of modification");
  // SMB and FAT take what they cannot keep, and file systems round times: FAT to 2 seconds.
  constexpr std::uint64_t most_rounding = 2;
  struct stat facts = {};
  if (!failures.empty() || describe(&facts) != 0) return failures;
  const auto require = [&](bool holds, const char* what) {
    if (!holds) failures.push_back({what, ENOTSUP});
  };
  const bool has_permissions = entry.kind == file_kind::symbolic_link || (facts.st_mode & 07777) == permissions;
  require(facts.st_uid == entry.user_id && facts.st_gid == entry.group_id, "owner");
  require(has_permissions, "permissions");
  const std::uint64_t later_by =
      static_cast<std::uint64_t>(facts.st_mtim.tv_sec) - static_cast<std::uint64_t>(entry.modified.tv_sec);
  require(later_by + most_rounding <= 2 * most_rounding, "time of modification");
  return failures;
}

}  // namespace

bool is_access_list(std::string_view attribute) noexcept {
  return std::ranges::find(access_lists, attribute) != access_lists.end();
}

bool remove_access_lists(int file) noexcept {
  bool had_list = false;
  for (const char* const list : access_lists) {
    if (::fgetxattr(file, list, nullptr, 0) < 0) continue;
    had_list = true;
    static_cast<void>(::fremovexattr(file, list));
  }
  return had_list;
}

std::vector<metadata_failure> set_metadata(int file, const folder_entry& entry, flag_setting flags) {
  std::vector<metadata_failure> failures = set_all(
      entry, [&](uid_t user, gid_t group) { return ::fchown(file, user, group); },
      // Looked for first, because most files have none, and a removal writes.
      [&](const char* list) {
        return ::fgetxattr(file, list, nullptr, 0) < 0 ? unless_absent() : ::fremovexattr(file, list);
      },
      [&](const char* name, const void* value, std::size_t size) { return ::fsetxattr(file, name, value, size, 0); },
      [&](mode_t mode) { return ::fchmod(file, mode); },
      [&](const std::timespec* times) { return ::futimens(file, times); },
      [&](struct stat* facts) { return ::fstat(file, facts); });
  const int failed = flags == flag_setting::now ? set_flags(file, entry.flags) : 0;
  if (failed != 0) failures.push_back({flags_name, failed});
  return failures;
}

bool has_metadata(int file, const folder_entry& entry) {
  struct stat facts = {};
  return entry.attributes.empty() && ::fstat(file, &facts) == 0 && facts.st_uid == entry.user_id &&
         facts.st_gid == entry.group_id && (facts.st_mode & 07777) == entry.permissions &&
         facts.st_mtim.tv_sec == entry.modified.tv_sec && facts.st_mtim.tv_nsec == entry.modified.tv_nsec &&
         flags_of(file) == entry.flags;
}

int set_permissions_in(int folder, const char* name, mode_t mode) noexcept {
  constexpr long fchmodat2_call = 452;  // Linux 6.6; the function of the C library goes through /proc
  if (::syscall(fchmodat2_call, folder, name, mode, AT_SYMLINK_NOFOLLOW) == 0) return 0;
  return errno == ENOSYS || errno == EPERM ? ::fchmodat(folder, name, mode, AT_SYMLINK_NOFOLLOW) : -1;
}

std::vector<metadata_failure> set_metadata_in(int folder, const folder_entry& entry) {
  const char* const name = entry.name.c_str();
  // The calls for attributes take no descriptor of a folder.
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder, entry.name);
  const bool has_path = has_descriptor_paths();
  std::vector<metadata_failure> failures = set_all(
      entry, [&](uid_t user, gid_t group) { return ::fchownat(folder, name, user, group, AT_SYMLINK_NOFOLLOW); },
      [&](const char* list) {
        // A new file has the list that its folder passes on.
        if (!has_path && ::fgetxattr(folder, access_lists[1], nullptr, 0) < 0) return unless_absent();
        return ::lgetxattr(path.c_str(), list, nullptr, 0) < 0 ? unless_absent() : ::lremovexattr(path.c_str(), list);
      },
      [&](const char* attribute, const void* value, std::size_t size) {
        return ::lsetxattr(path.c_str(), attribute, value, size, 0);
      },
      [&](mode_t mode) { return set_permissions_in(folder, name, mode); },
      [&](const std::timespec* times) { return ::utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW); },
      [&](struct stat* facts) { return ::fstatat(folder, name, facts, AT_SYMLINK_NOFOLLOW); });
  if (!has_path) {
    for (metadata_failure& each : failures) {
      if (each.error != ENOENT && each.error != ENOTSUP) continue;
      each = {each.what + " without /proc", ENOTSUP};
    }
  }
  if (entry.flags != 0)
    failures.push_back({flags_name, EOPNOTSUPP});  // only files that can be opened have a call for them
  return failures;
}

constexpr std::uint32_t stored_flags = immutable_flag | append_only_flag | no_dump_flag;
constexpr std::uint32_t protecting_flags = immutable_flag | append_only_flag;

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
