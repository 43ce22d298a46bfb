// Regular files by their descriptors: their state when they were opened, their holes, and whether they have changed.
#pragma once

#include <cstdint>
#include <string_view>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <sys/stat.h>

namespace cutpoint {

[[nodiscard]] file_state state_of(const struct stat& facts);

/// Returns whether the file is large enough that looking for holes and advising the kernel are worth a system call.
[[nodiscard]] inline bool is_large(const file_state& earlier) { return earlier.size >= 64 * KiB; }

/// The hole or the data that begins at an offset of a file.
struct file_extent {
  std::uint64_t hole_bytes = 0;  ///< length of the hole that begins there, or 0
  std::uint64_t data_end = 0;    ///< if no hole begins there, the end of the bytes without a hole, or 0 if it is
                                 ///< unknown
};

/// Returns the extent that begins at `offset`, which must be less than the size that the file was opened with. A hole
/// never extends past that size; the last one ends where the file ends now.
[[nodiscard]] file_extent extent_at(int descriptor, const file_state& earlier, std::uint64_t offset);

/// Returns whether two states have the same size and the same mtime.
[[nodiscard]] bool is_unmodified(const file_state& a, const file_state& b) noexcept;

/// Checks that the file still has the size, mtime and ctime that it was opened with. The ctime of a file that has lost
/// its last name may differ. Errors: io_error, also if the file has changed.
[[nodiscard]] status check_state(int descriptor, const file_state& earlier, std::string_view name,
                                 const cancellation* cancel);

}  // namespace cutpoint
