// The clock whose times objects of a store have.
#pragma once

#include <chrono>
#include <cstdint>

namespace cutpoint::store {

/// Returns the nanoseconds since 1970, UTC, by the system's clock, which may be wrong and may be set back.
[[nodiscard]] inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace cutpoint::store
