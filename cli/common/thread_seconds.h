// The clock that speeds are measured by.
#pragma once

#include <time.h>

namespace cutpoint::cli {

/// Processor time of the calling thread so far. What other processes do to a shared machine is mostly left out.
[[nodiscard]] inline double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace cutpoint::cli
