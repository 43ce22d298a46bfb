// Small inputs that a command reads as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cutpoint/status.h>

namespace cutpoint::cli {

inline constexpr std::string_view standard_input_path = "-";

/// Returns the content of a file, or of standard input for "-". Errors: io_error; invalid_argument, if it has more bytes; cancelled.
[[nodiscard]] result<std::string> read_input(const std::string& file, std::uint64_t most_bytes = UINT64_MAX);

}  // namespace cutpoint::cli
