#include "store/backup/change_time.h"

#include <algorithm>
#include <array>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/io/open_entry.h"

namespace cutpoint::store {

namespace {

/// The magic numbers of statfs(2) for file systems whose times this machine sets. All others count as remote: NFS, SMB,
/// FUSE, 9p, those of clusters, and those that nobody has thought of.
constexpr std::array<std::uint32_t, 19> local_file_systems = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0xCA451A4E,  // bcachefs
    0x2FC12FC1,  // ZFS
    0xF2F52010,  // F2FS
    0x3153464A,  // JFS
    0x52654973,  // ReiserFS
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x794C7630,  // overlayfs
    0x4D44,      // FAT
    0x2011BAB0,  // exFAT
    0x5346544E,  // NTFS
    0x7366746E,  // NTFS, the driver ntfs3
    0x482B,      // HFS+
    0x15013346,  // UDF
    0x73717368,  // SquashFS
    0xE0F5E1E2,  // EROFS
};

std::chrono::seconds margin_of_file_system(const tree_entry& entry) {
  struct stat file_facts = {};
  const int file = open_entry(entry, O_PATH, file_facts);
  if (file < 0) return remote_change_margin;
  struct statfs facts = {};
  const bool is_known = ::fstatfs(file, &facts) == 0;
  ::close(file);
  const bool is_local =
      is_known && std::ranges::count(local_file_systems, static_cast<std::uint32_t>(facts.f_type)) != 0;
  return is_local ? local_change_margin : remote_change_margin;
}

}  // namespace

std::timespec trusted_change_time(const std::timespec& changed, const std::timespec& now,
                                  std::chrono::seconds margin) noexcept {
  const auto margin_seconds = static_cast<std::time_t>(margin.count());
  const bool is_trusted =
      std::tuple(changed.tv_sec, changed.tv_nsec) <= std::tuple(now.tv_sec - margin_seconds, now.tv_nsec);
  return is_trusted ? changed : std::timespec{};
}

std::timespec change_times::trusted(const tree_entry& entry) {
  auto margin = margins_.find(entry.device);
  if (margin == margins_.end()) margin = margins_.emplace(entry.device, margin_of_file_system(entry)).first;
  std::timespec now = {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return trusted_change_time(entry.changed, now, margin->second);
}

}  // namespace cutpoint::store
