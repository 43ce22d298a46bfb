// Numbers and sizes that options have as text.
#pragma once

#include <string_view>

#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint::cli {

/// What was read of an option's value, with the option's name before what is wrong with it.
[[nodiscard]] inline result<std::uint64_t> named(std::string_view option, const result<std::uint64_t>& read) {
  if (read) return read;
  return status(status_code::invalid_argument, fmt::format("{}: {}", option, read.error().message()));
}

}  // namespace cutpoint::cli
