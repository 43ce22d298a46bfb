// Opens what a walk has found, so that nobody can put another file into its place.
#pragma once

#include <string_view>

#include <cutpoint/tree_entry.h>
#include <sys/stat.h>

namespace cutpoint {

/// Opens the file of an entry with open(2)'s flags and O_CLOEXEC, during the walk's call. The name is opened in the folder's
/// descriptor, and a symbolic link is not followed unless the walk followed it. Returns -1 and sets errno on failure:
/// ESTALE, if the name belongs to another file now.
[[nodiscard]] int open_entry(const tree_entry& entry, int flags, struct stat& facts);

/// Returns the failure of a call on an entry, as `system_failure` does; ESTALE says that the file was replaced.
[[nodiscard]] status entry_failure(std::string_view path, std::string_view done, int error);

}  // namespace cutpoint
