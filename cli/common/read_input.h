// Small inputs that a command reads as a whole.
#pragma once

#include <string>

#include <cutpoint/status.h>

namespace cutpoint::cli {

/// Returns the content of a file, or of standard input for "-". Errors: io_error; cancelled.
[[nodiscard]] result<std::string> read_input(const std::string& file);

}  // namespace cutpoint::cli
