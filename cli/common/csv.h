// Fields of comma-separated values.
#pragma once

#include <string>
#include <string_view>

namespace cutpoint::cli {

/// As RFC 4180 but for the line ends: in quotes where needed, quotes doubled.
[[nodiscard]] std::string csv_field(std::string_view field);

}  // namespace cutpoint::cli
