// Which build of the program this is.
#pragma once

#include <string>

namespace cutpoint::cli {

/// The version and the identifier that the linker made of the program's contents: another one for any other code.
[[nodiscard]] std::string build_key();

}  // namespace cutpoint::cli
