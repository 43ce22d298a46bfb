// A failed system call as a status.
#pragma once

#include <string_view>
#include <system_error>

#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint {

/// "NAME: WHAT failed: REASON", with errno.
inline status system_failure(std::string_view name, std::string_view what, int error) {
  return {status_code::io_error, fmt::format("{}: {} failed: {}", name, what, std::generic_category().message(error)),
          error};
}

}  // namespace cutpoint
