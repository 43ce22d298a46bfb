// Measures data in host memory by lanes of a device.
//
// Apart because the program would have more than 450 lines with the lanes that it measures.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>

#include "bench/device/report.h"
#include "cuda/batch/offload.h"

namespace cutpoint::bench {

/// The time after which no measurement is begun.
using deadline = std::chrono::steady_clock::time_point;
[[nodiscard]] inline bool is_over(deadline end) { return std::chrono::steady_clock::now() >= end; }

/// The data of all measurements.
struct device_data {
  int device = 0;
  byte_span here;    ///< in host memory
  byte_span sample;  ///< the first of them, for comparisons with the reference
};

/// Locks host memory during its life, so that a device copies from it at full speed.
class memory_lock {
 public:
  /// Errors: memory_limit; backend_failure, for example if the system allows less locked memory.
  [[nodiscard]] static result<memory_lock> make(std::span<std::uint8_t> bytes, int device);

  memory_lock(memory_lock&&) = default;
  memory_lock& operator=(memory_lock&&) = delete;
  ~memory_lock() {
    if (offload_) offload_->unpin(memory_);
  }

 private:
  memory_lock(void* memory, std::unique_ptr<cuda::offload> offload) : memory_(memory), offload_(std::move(offload)) {}

  void* memory_;
  std::unique_ptr<cuda::offload> offload_;
};

/// The numbers of lanes and sizes of batches to measure.
struct lane_sweep {
  std::vector<std::uint64_t> lanes = {1, 2, 3, 4};
  std::vector<std::uint64_t> batch_sizes = {8 * MiB, 16 * MiB, 32 * MiB, 64 * MiB, 128 * MiB};
  double seconds = 0.08;  ///< length of a sample
  int samples = 5;
};

/// Measures cuts and SHA-1: compares the answer for the sample with the reference's, then measures every number of lanes
/// with every size of batches. An error becomes the row's problem.
[[nodiscard]] end_to_end_row measure_end_to_end(std::string_view name, const chunker& cuts, const device_data& data,
                                                const lane_sweep& plan, deadline end);

/// Measures one kind of fingerprint of known chunks of 8 KiB likewise.
[[nodiscard]] end_to_end_row measure_known_chunks(fingerprint_kind fingerprint, const device_data& data,
                                                  const lane_sweep& plan, deadline end);

}  // namespace cutpoint::bench
