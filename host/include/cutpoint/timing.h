// Functions to measure speeds: the processor time of a thread, and medians.
#pragma once

#include <vector>

namespace cutpoint {

/// Returns the processor time that the calling thread has used, in seconds. It mostly excludes the effect of other
/// processes on a shared machine. Each call is a system call, which takes a fraction of a microsecond.
[[nodiscard]] double thread_seconds() noexcept;

/// Returns the median of one or more values. For an even number of values it is the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace cutpoint
