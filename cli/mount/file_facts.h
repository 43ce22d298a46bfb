// The metadata that programs see of a mounted store.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

#include "cli/mount/shown_tree.h"

namespace cutpoint::cli {

/// Returns the metadata of a file of a snapshot. Names of one file have one inode, and any other two files have two:
/// programs take files with equal inodes for names of one file, and folders that have the inode of one above for loops.
[[nodiscard]] struct stat facts_of(const file_metadata& file, const std::string& snapshot, const std::string& path);

/// Returns the metadata of what is above the files, at a path of the mount. It belongs to the user of this process.
[[nodiscard]] struct stat facts_of(const shown_entry& shown, std::string_view path);

}  // namespace cutpoint::cli
