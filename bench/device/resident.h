// Measures cuts and fingerprints of data in device memory.
#pragma once

#include <chrono>
#include <string_view>

#include <cutpoint/chunker.h>

#include "bench/device/runtime.h"

namespace cutpoint::bench {

/// The time after which no measurement is begun.
using deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] inline bool is_over(deadline end) { return std::chrono::steady_clock::now() >= end; }

/// The data of all measurements.
struct device_data {
  int device = 0;
  device_bytes there;
  byte_span here;    ///< the same bytes, or the first of them, in host memory
  byte_span sample;  ///< the first of those, for comparisons with the reference
};

/// Compares the answer for the sample with the reference's, then measures batches of each size from all over the data, so
/// that none is in the cache. An error becomes the row's problem.
[[nodiscard]] resident_row measure_resident(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                                            const device_data& data, const std::vector<std::uint64_t>& batch_sizes,
                                            deadline end);

}  // namespace cutpoint::bench
