// Measures the rates of one device: its link, and its kernels by the device's own clock.
#pragma once

#include <vector>

#include <cutpoint/cost_model.h>

#include "pipeline/costs/calibration_cuts.h"
#include "pipeline/devices/device_lanes.h"

namespace cutpoint {

struct device_sampling {
  std::uint64_t batch_bytes = 32 * MiB;  ///< a multiple of 8
  std::uint64_t small_bytes = 64 * KiB;  ///< of the batch that measures latency
  int turns = 2;                         ///< of each batch, after one that is not counted
  double most_seconds = 0.02;            ///< no more turns of a batch begin after this time
  /// Lengths of the chunks to fingerprint. Batches of `batch_bytes`, and of a `fewer`th of that, have them.
  std::vector<std::uint64_t> chunk_lengths = {calibration_chunk_lengths.begin(), calibration_chunk_lengths.end()};
  std::uint64_t fewer = 8;
};

/// Measures the link, the latency, and the kernels for all calibration cuts and all fingerprints that the device has.
/// The default takes about 240 batches and less than two seconds (docs/results/cost-model.md). If a call fails, the result has
/// the problem and no rates. Throws std::bad_alloc.
[[nodiscard]] device_costs calibrate_device(const device_provider& provider, const gpu_info& gpu,
                                            const device_sampling& how);

}  // namespace cutpoint
