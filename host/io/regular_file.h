// Regular files by their descriptors: what they were when they were opened, where their holes are, whether they have
// changed.
#pragma once

#include <cstdint>
#include <string_view>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <sys/stat.h>

namespace cutpoint {

[[nodiscard]] file_state state_of(const struct stat& facts);

/// In smaller files neither holes nor advice on reading ahead are worth a system call.
[[nodiscard]] inline bool is_large(const file_state& opened) { return opened.size >= 64 * KiB; }

/// What a file has from an offset on.
struct file_extent {
  std::uint64_t hole_bytes = 0;  ///< of a hole that begins there
  std::uint64_t data_end = 0;    ///< no hole to here, where none begins there; 0 where nothing is known
};

/// `offset` is within the size that the file was opened with, and so is every hole that is told; one at the end ends
/// where the file does by now.
[[nodiscard]] file_extent extent_at(int descriptor, const file_state& opened, std::uint64_t offset);

/// Whether the file still has the size, mtime and ctime that it was opened with; the ctime of a file without a name may
/// differ. Errors: io_error.
[[nodiscard]] status check_state(int descriptor, const file_state& opened, std::string_view name,
                                 const cancellation* cancel);

}  // namespace cutpoint
