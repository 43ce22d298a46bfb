// Which lanes do which work of a feed: four plans, and what each is expected to come to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cutpoint {

/// Who cuts and who fingerprints. Changes nothing that comes out. Joining is always the processor's. The numbers are
/// pinned.
enum class work_plan : int {
  automatic = 0,               ///< the one that is expected to be fastest
  processor = 1,               ///< the processor does all
  device = 2,                  ///< the device cuts and fingerprints
  fingerprints_on_device = 3,  ///< the processor cuts, the device fingerprints
  shared = 4,                  ///< each does both, as it is free
};
[[nodiscard]] std::string_view to_string(work_plan which) noexcept;

// Rates are in bytes of streams a second; 0 where there is nothing to do (fingerprints of a feed without) or where a rate
// is not known and bounds nothing.

/// The processor's lanes.
struct processor_rates {
  std::uint64_t lane_count = 1;
  double chunking = 0;        ///< of one lane
  double fingerprinting = 0;  ///< of one lane
  double memory = 0;          ///< read from memory by all lanes together
};

/// A device's lanes together.
struct device_rates {
  double link_in = 0;          ///< copies to the device
  double link_out = 0;         ///< copies from it, in bytes that are copied
  double latency_seconds = 0;  ///< of a batch, whatever its size: copies begun, kernels launched, waits
  double chunking = 0;
  double fingerprinting = 0;
  double out_share = 0;           ///< bytes that are copied out for each byte that is copied in
  std::uint64_t lane_count = 3;   ///< batches that are under way at a time
  std::uint64_t batch_bytes = 0;  ///< most in a batch
};

/// What one job (cuts, fingerprint, a length of chunks) runs at on the lanes of a machine.
struct job_rates {
  processor_rates processor;
  std::vector<device_rates> devices;
  double reading = 0;   ///< into the ring, by one thread
  double joining = 0;   ///< by one lane at a time
  double delivery = 0;  ///< by one lane at a time
};

/// Something that no run of a plan is faster than.
struct rate_limit {
  std::string name;  ///< "reading", "processor", "memory", "joining", "delivery", "device 0", "link of device 0"
  double bytes_per_second = 0;
};

struct plan_prediction {
  work_plan plan = work_plan::processor;
  double bytes_per_second = 0;
  /// Of the bytes, the share that devices cut, and the share that they fingerprint.
  double device_cut_share = 0;
  double device_fingerprint_share = 0;
  std::vector<rate_limit> limits;  ///< the tightest first: the bottleneck
};

/// The plans that there are lanes for, the fastest first; of equals, the one with the lower number. Thread-safe.
[[nodiscard]] std::vector<plan_prediction> predict_plans(const job_rates& rates);

/// What is predicted of a plan; null where there is nothing of it. Lives as long as what it is found in. Thread-safe.
[[nodiscard]] const plan_prediction* prediction_of(std::span<const plan_prediction> predictions,
                                                   work_plan plan) noexcept;

}  // namespace cutpoint
