// How speeds are measured: by the processor time of a thread, and by medians.
#pragma once

#include <vector>

namespace cutpoint {

/// Processor time of the calling thread so far. What other processes do to a shared machine is mostly left out. A system
/// call, which takes a fraction of a microsecond.
[[nodiscard]] double thread_seconds() noexcept;

/// The median of at least one value; of an even number, the mean of the two in the middle.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace cutpoint
