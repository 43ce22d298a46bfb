// System calls that a signal may interrupt, and the status of one that failed.
#pragma once

#include <cerrno>
#include <string_view>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint {

/// Repeats a system call that a signal interrupts until it succeeds, fails with another error, or a stop is requested.
/// Returns the result of the last call.
template <class Call>
auto repeat_interrupted(const cancellation* cancel, Call call) {
  for (;;) {
    const auto outcome = call();
    if (outcome >= 0 || errno != EINTR || (cancel != nullptr && cancel->is_requested())) return outcome;
  }
}

/// Returns the status of a call that failed with `error`: cancelled if a stop was requested, else io_error.
inline status interruptible_failure(std::string_view name, std::string_view done, int error,
                                    const cancellation* cancel) {
  if (error == EINTR && cancel != nullptr)
    return {status_code::cancelled, fmt::format("{}: stopped before it was {}", name, done)};
  return system_failure(name, done, error);
}

}  // namespace cutpoint
