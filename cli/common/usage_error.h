// The error of options and arguments that cannot be used.
#pragma once

#include <string>
#include <utility>

#include <cutpoint/status.h>

namespace cutpoint::cli {

[[nodiscard]] inline status usage_error(std::string message) {
  return {status_code::invalid_argument, std::move(message)};
}

}  // namespace cutpoint::cli
