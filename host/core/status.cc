// The names of status codes, and the messages of failed system calls.
#include <system_error>

#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint {

std::string_view to_string(status_code code) noexcept {
  switch (code) {
    case status_code::ok:
      return "ok";
    case status_code::invalid_argument:
      return "invalid_argument";
    case status_code::unknown_name:
      return "unknown_name";
    case status_code::io_error:
      return "io_error";
    case status_code::memory_limit:
      return "memory_limit";
    case status_code::unavailable:
      return "unavailable";
    case status_code::cancelled:
      return "cancelled";
    case status_code::backend_failure:
      return "backend_failure";
  }
  return "unknown";
}

status system_failure(std::string_view name, std::string_view done, int error) {
  return {status_code::io_error,
          fmt::format("{}: cannot be {}: {}", name, done, std::generic_category().message(error)), error};
}

}  // namespace cutpoint
