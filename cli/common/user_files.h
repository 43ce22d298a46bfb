// Small files that commands keep for their user between runs.
#pragma once

#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint::cli {

/// Returns the folder that `variable` of the environment names, or `cutpoint` below that of `shared_variable`, which many
/// programs use, or `below_home`/cutpoint in the user's home. Errors: unavailable, if none of them is set.
[[nodiscard]] result<std::string> user_folder(const char* variable, const char* shared_variable,
                                              std::string_view below_home);

/// Writes a file as a whole, or not at all, and makes the folder that it is in. Errors: io_error.
[[nodiscard]] status replace_file(const std::string& path, std::string_view text);

}  // namespace cutpoint::cli
