// Says which ctimes prove that a file has not changed since it was read.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>

#include <cutpoint/tree_entry.h>

namespace cutpoint::store {

/// How much older than the kernel's clock for time stamps a ctime must be so that a later change cannot leave the same one.
/// The coarsest file systems keep even seconds (FAT).
inline constexpr std::chrono::seconds local_change_margin{2};
/// The same where another machine sets the times, or where nobody knows which does. Kerberos requires clocks that differ by
/// five minutes at most, and so do network file systems that use it.
inline constexpr std::chrono::seconds remote_change_margin{300};

/// Returns `changed`, or zero if it is not older than `now` by the margin. A ctime in the future is never old enough.
[[nodiscard]] std::timespec trusted_change_time(const std::timespec& changed, const std::timespec& now,
                                                std::chrono::seconds margin) noexcept;

/// Knows the margin of each file system that a backup meets. Not thread-safe.
class change_times {
 public:
  /// Returns the ctime of an entry whose content will be read after this call, or zero if it cannot be trusted: the file may
  /// change after it was read and have the same ctime, size and mtime.
  [[nodiscard]] std::timespec trusted(const tree_entry& entry);

 private:
  std::map<std::uint64_t, std::chrono::seconds> margins_;  ///< by device
};

}  // namespace cutpoint::store
