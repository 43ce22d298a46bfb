#include "cli/mount/file_facts.h"

#include <array>
#include <chrono>
#include <functional>

#include <cutpoint/bytes.h>
#include <fmt/format.h>
#include <unistd.h>

namespace cutpoint::cli {

namespace {

constexpr blksize_t block_bytes = 128 * KiB;

/// In the order of `file_kind`.
constexpr std::array<mode_t, 7> type_bits = {S_IFDIR, S_IFREG, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK};

ino_t inode_of(std::string_view facts) { return std::hash<std::string_view>()(facts); }

}  // namespace

struct stat facts_of(const file_metadata& file, const std::string& snapshot, const std::string& path) {
  struct stat facts = {};
  const bool has_names = file.kind != file_kind::directory && file.link_count > 1 && file.inode != 0;
  facts.st_ino = inode_of(has_names ? fmt::format("{} {} {}", snapshot, file.device, file.inode) : snapshot + path);
  facts.st_mode = type_bits[static_cast<std::size_t>(file.kind)] | (file.permissions & 07777);
  facts.st_nlink = file.link_count;
  facts.st_uid = file.user_id;
  facts.st_gid = file.group_id;
  facts.st_rdev = file.device_number;
  facts.st_size = static_cast<off_t>(file.size);
  facts.st_blksize = block_bytes;
  facts.st_blocks = static_cast<blkcnt_t>(file.size / 512 + (file.size % 512 != 0));
  facts.st_atim = facts.st_mtim = file.modified;
  const bool has_change_time = file.changed.tv_sec != 0 || file.changed.tv_nsec != 0;
  facts.st_ctim = has_change_time ? file.changed : file.modified;
  return facts;
}

struct stat facts_of(const shown_entry& shown, std::string_view path) {
  struct stat facts = {};
  const bool is_link = shown.what == shown_entry::kind::link;
  facts.st_ino = inode_of(path);
  facts.st_mode = is_link ? S_IFLNK | 0777 : S_IFDIR | 0555;
  facts.st_nlink = is_link ? 1 : 2;
  facts.st_uid = ::getuid();
  facts.st_gid = ::getgid();
  facts.st_size = static_cast<off_t>(is_link ? shown.text.size() : 0);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(shown.time));
  facts.st_mtim = {seconds.count(), (std::chrono::nanoseconds(shown.time) - seconds).count()};
  facts.st_atim = facts.st_ctim = facts.st_mtim;
  return facts;
}

}  // namespace cutpoint::cli
