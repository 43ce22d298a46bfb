// Device memory, random bytes, times by events, and reported clocks, by CUDA's runtime. All functions use the calling
// thread's current device and are called by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <cutpoint/cuda.h>
#include <cutpoint/status.h>

#include "bench/device/report.h"

namespace cutpoint::bench {

/// Makes a device the calling thread's current one.
[[nodiscard]] status use_device(int device);

/// Bytes in device memory, aligned to 256, readable up to the next multiple of 16 past the last.
struct device_bytes {
  std::shared_ptr<std::uint8_t> memory;
  std::uint64_t size = 0;

  [[nodiscard]] const std::uint8_t* data() const { return memory.get(); }
};

/// Makes pseudo-random bytes, the same on every machine. Errors: memory_limit; backend_failure.
[[nodiscard]] result<device_bytes> random_device_bytes(std::uint64_t size);

/// Waits for the device, and compares bytes in its memory with those that `random_device_bytes` has made. Errors: backend_failure, if
/// a kernel has changed one; memory_limit.
[[nodiscard]] status check_random_bytes(const device_bytes& bytes);

/// Waits for the device and copies bytes of its memory to the host.
[[nodiscard]] result<std::vector<std::uint8_t>> copy_from_device(const std::uint8_t* source, std::uint64_t size);

/// Measures by CUDA's events the time that work takes in a stream of its own.
class device_stopwatch {
 public:
  /// Makes a stream and events of the current device. Errors: backend_failure.
  [[nodiscard]] static result<device_stopwatch> make();

  /// Returns the mean seconds that the device takes for the work of `calls` calls of `enqueue`, which puts it into the
  /// stream. Errors: those of `enqueue`; backend_failure.
  [[nodiscard]] result<double> seconds(const std::function<status(CUstream_st*)>& enqueue, int calls) const;

 private:
  struct objects;
  explicit device_stopwatch(std::shared_ptr<const objects> own) : objects_(std::move(own)) {}

  std::shared_ptr<const objects> objects_;
};

/// Returns the seconds that the device takes for the work that `enqueue` puts into its stream: the median of `samples`
/// samples of several calls each, by CUDA's events, after two calls that do not count.
[[nodiscard]] result<double> median_device_seconds(const std::function<status(CUstream_st*)>& enqueue, int samples = 5);

/// Measures the limits with `data`, which should be much larger than the L2 cache. Errors: memory_limit; backend_failure.
[[nodiscard]] result<device_limits> measure_limits(const device_bytes& data);

/// Measures the scans of gear, fastcdc and rabin on `data` with other values of their tuning, and ways to wait for the device.
/// Appends a row for each as it is measured. Errors: memory_limit; backend_failure.
[[nodiscard]] status measure_variants(const device_bytes& data, std::vector<variant_row>& rows);

/// Returns clocks, bus and error correction as the driver reports them, or the reason why it does not.
[[nodiscard]] std::vector<named_fact> reported_clocks(int device);

}  // namespace cutpoint::bench
