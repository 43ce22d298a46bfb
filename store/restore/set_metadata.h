// Sets the metadata of a restored file: owner, extended attributes, permissions, times and flags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "store/tree/node.h"

namespace cutpoint::store {

/// What flags are called in a `metadata_failure`.
inline constexpr const char* flags_name = "flags (immutable, append-only, no dump)";

/// Something that could not be set.
struct metadata_failure {
  std::string what;  ///< such as "owner"
  int error = 0;     ///< errno
};

/// Whether `set_metadata` sets the flags of a file. Those that forbid changes forbid more names, too.
enum class flag_setting { now, later };

/// Sets what `entry` says of an open regular file or folder, and removes access control lists that it lacks. The rest is set
/// if a part fails. Set-ID bits are left out unless the owner is right. Flags are set last. What the file system takes and does not
/// keep is a failure too (ENOTSUP), but for the rounding of times. Thread-safe.
[[nodiscard]] std::vector<metadata_failure> set_metadata(int file, const folder_entry& entry,
                                                         flag_setting flags = flag_setting::now);
/// Returns whether an extended attribute is an access control list: that of a file, or the default one of a folder.
[[nodiscard]] bool is_access_list(std::string_view attribute) noexcept;
/// Removes all access control lists of an open file or folder. Returns whether it had one.
[[nodiscard]] bool remove_access_lists(int file) noexcept;
/// Returns whether an open regular file has the owner, the permissions, the flags and the time of modification of an entry without
/// extended attributes. Attributes are not compared: false if the entry has any. Thread-safe.
[[nodiscard]] bool has_metadata(int file, const folder_entry& entry);
/// Does what `set_metadata` does for a new file called `entry.name` in an open folder, which may be of any kind. Symbolic links are
/// not followed. Where there is no /proc, what of it fails for that reason says so.
[[nodiscard]] std::vector<metadata_failure> set_metadata_in(int folder, const folder_entry& entry);
/// Sets the permissions of a file in an open folder, and follows no link. Returns 0, or -1 and sets errno.
[[nodiscard]] int set_permissions_in(int folder, const char* name, mode_t mode) noexcept;

/// Returns the `file_flag`s of an open regular file or folder; 0 if the file system has none.
[[nodiscard]] std::uint32_t flags_of(int file) noexcept;
/// Sets the `file_flag`s of an open regular file or folder, and leaves its other flags. Returns 0 or an errno.
[[nodiscard]] int set_flags(int file, std::uint32_t flags) noexcept;
/// Clears the flags that forbid changes of a regular file or folder. Returns whether it had any and has none now.
[[nodiscard]] bool unprotect(int folder, const char* name) noexcept;

}  // namespace cutpoint::store
