// System calls that a signal may interrupt, and what is said when one fails.
#pragma once

#include <cerrno>
#include <string_view>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <fmt/format.h>

namespace cutpoint {

/// Repeats a system call that a signal interrupted, until it is done or a stop is asked for. Returns what the call
/// returned.
template <class Call>
auto repeat_interrupted(const cancellation* cancel, Call call) {
  for (;;) {
    const auto outcome = call();
    if (outcome >= 0 || errno != EINTR || (cancel != nullptr && cancel->is_requested())) return outcome;
  }
}

/// The status of a call that failed with `error`: cancelled, where a stop was asked for.
inline status interruptible_failure(std::string_view name, std::string_view done, int error,
                                    const cancellation* cancel) {
  if (error == EINTR && cancel != nullptr)
    return {status_code::cancelled, fmt::format("{}: stopped before it was {}", name, done)};
  return system_failure(name, done, error);
}

}  // namespace cutpoint
