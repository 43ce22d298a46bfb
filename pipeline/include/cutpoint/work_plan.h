// Work plans: which lanes work on a feed, and the predicted speed of each choice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cutpoint {

/// Which lanes cut and fingerprint. The plan does not change the chunks. The processor always does the joins.
enum class work_plan : int {
  processor = 1,  ///< the processor does all the work
  device = 2,     ///< devices cut and fingerprint, and the processor only does what they cannot
  shared = 4,     ///< each lane takes work when it is free
};
[[nodiscard]] std::string_view to_string(work_plan which) noexcept;

/// The work that a device does for a feed.
enum class work_kind {
  cuts,          ///< the device cuts, and fingerprints the chunks that it finds
  fingerprints,  ///< the device fingerprints chunks that the processor cuts
};

// Rates are in bytes of streams per second. A rate of 0 means that there is no such work (fingerprints of a feed
// without fingerprints), or that the rate is unknown and limits nothing.

/// The rates of the processor's lanes.
struct processor_rates {
  std::uint64_t lane_count = 1;
  double chunking = 0;        ///< of one lane
  double fingerprinting = 0;  ///< of one lane
  double memory = 0;          ///< bytes read from memory by all lanes together
};

/// The rates of one device, all its lanes together.
struct device_rates {
  int device = 0;              ///< the GPU's number
  double link_in = 0;          ///< copies to the device
  double link_out = 0;         ///< copies from the device, in copied bytes
  double pinning = 0;          ///< locking memory of the host and unlocking it
  double latency_seconds = 0;  ///< of a batch of any size: starting copies, launching kernels, waiting
  double chunking = 0;
  double fingerprinting = 0;
  double out_share = 0;           ///< bytes copied out for each byte copied in
  std::uint64_t lane_count = 3;   ///< batches that the device works on at a time
  std::uint64_t batch_bytes = 0;  ///< maximum of a batch
};

/// The rates of one job (an algorithm, a fingerprint and a chunk length) on the lanes of a machine.
struct job_rates {
  processor_rates processor;
  std::vector<device_rates> devices;
  /// False if chunks have no maximum size. Devices can then fingerprint chunks, but not find them.
  bool devices_can_cut = true;
  double reading = 0;  ///< into the ring, by one thread
  /// Lanes of the processor that can read at a time: 1 where the bytes come in order, as from a pipe. Files and memory are read by all.
  std::uint64_t reader_count = 1;
  double joining = 0;   ///< by one lane at a time
  double delivery = 0;  ///< by one lane at a time

  /// Returns the rates of the GPU with this number, or null if they are not known.
  [[nodiscard]] const device_rates* find_device(int device) const noexcept;
};

/// A resource and the speed that it allows. No run of the plan is faster.
struct rate_limit {
  std::string name;  ///< "reading", "processor", "memory", "joining", "delivery", "device 0", "link of device 0"
  double bytes_per_second = 0;
};

struct plan_prediction {
  work_plan plan = work_plan::processor;
  double bytes_per_second = 0;
  /// The share of all bytes that devices cut, and the share that they fingerprint.
  double device_cut_share = 0;
  double device_fingerprint_share = 0;
  std::vector<rate_limit> limits;  ///< the tightest first, which is the bottleneck
};

/// The rate of one device at this kind of work, which its slowest part limits. 0 if no rate is known.
[[nodiscard]] double predict_device_rate(const device_rates& device, work_kind which);

/// Whether the plan is expected to take less time over memory of a caller if that is locked for the feed, by the first
/// device and before all other work, than if all lanes copy it into the ring. False if the rate of locking is not known.
[[nodiscard]] bool pays_to_pin(const job_rates& rates, work_plan plan);

/// Predicts the plans that the job has lanes for. The fastest comes first; among equals `processor`, then `shared`. For
/// `shared` it assumes the kind of work that devices are faster with. Thread-safe.
[[nodiscard]] std::vector<plan_prediction> predict_plans(const job_rates& rates);

/// The prediction of one plan, or null if `predictions` has none. The pointer is valid as long as `predictions` is.
/// Thread-safe.
[[nodiscard]] const plan_prediction* prediction_of(std::span<const plan_prediction> predictions,
                                                   work_plan plan) noexcept;

}  // namespace cutpoint
