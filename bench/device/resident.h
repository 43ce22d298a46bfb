// Cuts and fingerprints of data in device memory, timed.
#pragma once

#include <chrono>
#include <string_view>

#include <cutpoint/chunker.h>

#include "bench/device/runtime.h"

namespace cutpoint::bench {

/// The end of the time given; nothing is begun after it.
using deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] inline bool is_over(deadline end) { return std::chrono::steady_clock::now() >= end; }

/// What all measurements work on.
struct device_data {
  int device = 0;
  device_bytes there;
  byte_span here;    ///< the same bytes, or the first of them, in pinned host memory
  byte_span sample;  ///< the first of those, on which answers are compared
};

/// Compares the answer for the sample with the reference's, then measures batches of each size, taken from all over the
/// data so that none is in the cache. What goes wrong is the row's problem.
[[nodiscard]] resident_row measure_resident(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                                            const device_data& data, const std::vector<std::uint64_t>& batch_sizes,
                                            deadline end);

}  // namespace cutpoint::bench
