// Flags of files, as chattr(1) sets them.
#pragma once

#include <cstdint>

namespace cutpoint::store {

/// Returns the `file_flag`s of an open regular file or folder; 0 if the file system has none.
[[nodiscard]] std::uint32_t flags_of(int file) noexcept;
/// Sets the `file_flag`s of an open regular file or folder, and leaves its other flags. Returns 0 or an errno.
[[nodiscard]] int set_flags(int file, std::uint32_t flags) noexcept;
/// Clears the flags that forbid changes of a regular file or folder. Returns whether it had any and has none now.
[[nodiscard]] bool unprotect(int folder, const char* name) noexcept;

}  // namespace cutpoint::store
