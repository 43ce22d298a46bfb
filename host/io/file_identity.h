// What tells a file from all others, and the kind of file system that it lies on.
#pragma once

#include <cstdint>

#include <cutpoint/tree_entry.h>

namespace cutpoint {

inline constexpr std::uint32_t fuse_file_system = 0x65735546;

/// Returns the magic number by which statfs(2) names the file system of an entry, during the walk's call, or 0 if it is not
/// known. For a file in a folder it is that of the folder.
[[nodiscard]] std::uint32_t file_system_of(const tree_entry& entry);

/// Returns whether two entries, both during the walk's call, are the same file: by file handle or, where one has none that
/// lasts, by all that is known of it.
[[nodiscard]] bool is_same_file(const tree_entry& a, const tree_entry& b);

}  // namespace cutpoint
