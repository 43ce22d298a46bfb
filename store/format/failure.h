// The failures that callers of the store's layers distinguish. Each is an io_error with an errno of its own.
#pragma once

#include <cerrno>
#include <string_view>

#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint::store {

/// Returns the status of an object whose bytes are not what was written.
[[nodiscard]] inline status damage(std::string_view object, std::string_view what) {
  return {status_code::io_error, fmt::format("{} is damaged: {}", object, what), EBADMSG};
}

[[nodiscard]] inline bool is_damage(const status& outcome) noexcept { return outcome.system_error() == EBADMSG; }
/// Returns whether the failure is that no object has the name.
[[nodiscard]] inline bool is_absence(const status& outcome) noexcept { return outcome.system_error() == ENOENT; }
/// Returns whether the failure is that the storage has no room left.
[[nodiscard]] inline bool is_lack_of_room(const status& outcome) noexcept {
  return outcome.system_error() == ENOSPC || outcome.system_error() == EDQUOT;
}
/// Returns whether the failure is that an object has the name already.
[[nodiscard]] inline bool is_presence(const status& outcome) noexcept { return outcome.system_error() == EEXIST; }

}  // namespace cutpoint::store
