// What the benchmark asks of CUDA's runtime: memory, random bytes, time by events, what the device says of itself. All on
// the calling thread's current device, one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cutpoint/cuda.h>
#include <cutpoint/status.h>

#include "bench/device/report.h"

namespace cutpoint::bench {

/// Makes a device the calling thread's current one.
[[nodiscard]] status use_device(int device);

/// Bytes in device memory, aligned to 256, readable up to the next multiple of 16 past the last.
struct device_bytes {
  std::shared_ptr<std::uint8_t> held;
  std::uint64_t size = 0;

  [[nodiscard]] const std::uint8_t* data() const { return held.get(); }
};

/// Pseudo-random bytes, the same everywhere. Errors: memory_limit; backend_failure.
[[nodiscard]] result<device_bytes> random_device_bytes(std::uint64_t size);

/// Once the device has done all that it was asked for.
[[nodiscard]] result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::uint64_t size);

/// Seconds that the device takes for what `enqueue` puts into the stream that it is given: the median of `samples`
/// samples of several calls each, by CUDA's events, after calls that are not counted.
[[nodiscard]] result<double> median_device_seconds(const std::function<status(CUstream_st*)>& enqueue, int samples = 5);

/// Measures them with `data`, which should be much larger than the L2 cache. Errors: memory_limit; backend_failure.
[[nodiscard]] result<device_limits> measure_limits(const device_bytes& data);

/// Clocks, bus and error correction as the driver reports them.
[[nodiscard]] result<std::vector<named_fact>> reported_clocks(int device);

}  // namespace cutpoint::bench
