// The release that this is.
#pragma once

#include <string_view>

namespace cutpoint {

/// "major.minor.patch".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace cutpoint
