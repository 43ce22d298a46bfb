// Rates of one device: its link as it measures it, its kernels by the device's own clock in batches of their own.
#pragma once

#include <vector>

#include <cutpoint/cost_model.h>

#include "pipeline/dispatch/calibration_cuts.h"
#include "pipeline/dispatch/device_lanes.h"

namespace cutpoint {

struct device_sampling {
  std::uint64_t batch_bytes = 32 * MiB;  ///< a multiple of 8
  std::uint64_t small_bytes = 64 * KiB;  ///< of a batch that is next to nothing
  int turns = 2;                         ///< of each batch, after one that does not count
  double most_seconds = 0.02;            ///< after which no more turns of a batch are begun
  /// Of known chunks, which are made in batches of `batch_bytes`, and of that part of it, with fewer in flight.
  std::vector<std::uint64_t> chunk_lengths = {calibration_chunk_lengths.begin(), calibration_chunk_lengths.end()};
  std::uint64_t fewer = 8;
};

/// The link, the latency and the kernels of all calibrated cuts and of every fingerprint, as far as the device makes
/// them. As it is usually sampled this is some 240 batches and less than two seconds (docs/performance.md). What fails
/// is the problem of what comes back, which then has no rates. Throws std::bad_alloc.
[[nodiscard]] device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu,
                                            const device_sampling& how);

}  // namespace cutpoint
