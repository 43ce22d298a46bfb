// The clock whose times objects of a store have.
#pragma once

#include <chrono>
#include <cstdint>

#include <time.h>

namespace cutpoint::store {

/// Returns the nanoseconds since 1970, UTC, by the system's clock, which may be wrong and may be set back.
[[nodiscard]] inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns the time since the machine was started, with the time in which it was suspended.
[[nodiscard]] inline std::chrono::nanoseconds time_since_start() {
  std::timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace cutpoint::store
