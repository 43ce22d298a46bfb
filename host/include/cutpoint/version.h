// The version of the library.
#pragma once

#include <string_view>

namespace cutpoint {

/// Returns the version as "major.minor.patch".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace cutpoint
