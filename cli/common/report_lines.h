// Lines of a report for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace cutpoint::cli {

/// A name, and what is to be said of it.
[[nodiscard]] inline std::string line(std::string_view name, std::string_view text) {
  return fmt::format("{:<14} {}\n", name, text);
}

/// For numbers that are shown with three digits.
[[nodiscard]] inline double as_double(std::uint64_t number) { return static_cast<double>(number); }

}  // namespace cutpoint::cli
