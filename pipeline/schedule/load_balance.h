// Decides how many of the waiting bytes a lane takes at a time, and when a slow lane leaves work to a faster one.
//
// A lane takes the share of the waiting bytes that its rate has in the rates of all lanes (guided self-scheduling). So
// all lanes end at about the same time, and a slow lane never holds bytes for so long that the ring fills up behind
// them. Rates are first the expected ones and then those that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>

#include "pipeline/schedule/feed_configuration.h"

namespace cutpoint {

/// The owner of a lane: the index of one of the feed's devices, or nullopt for the processor.
using lane_owner = std::optional<std::size_t>;

/// Not synchronised. Times are seconds of one clock.
class load_balance {
 public:
  explicit load_balance(const feed_configuration& configuration);

  // Observations.

  void record_processor_work(const std::array<stage_work, stage_count>& work);
  void record_device_start(std::size_t device, double now);
  void record_device_work(std::size_t device, std::uint64_t bytes, double now);
  /// The device takes no more work. After the last one the plan is `processor`.
  void remove_device(std::size_t device);

  // Decisions.

  [[nodiscard]] work_plan plan() const noexcept { return plan_; }
  [[nodiscard]] bool has_devices() const noexcept;
  /// Whether a device that is still there cuts.
  [[nodiscard]] bool devices_cut() const noexcept { return any_device_takes(work_kind::cuts); }
  /// Whether a device fingerprints what the processor cuts, so that maps on the processor make no fingerprints.
  [[nodiscard]] bool defers_fingerprints() const noexcept { return defers_fingerprints_; }
  [[nodiscard]] bool may_take(lane_owner owner, work_kind which) const noexcept;
  /// How many of `waiting` bytes a lane takes, at most `most`; `most` if a rate is not known.
  [[nodiscard]] std::uint64_t bytes_to_take(lane_owner owner, work_kind which, std::uint64_t waiting,
                                            std::uint64_t most) const noexcept;
  /// Whether a lane leaves work to the fastest lane: because its share is less than `least`, which is the least that it
  /// takes, or because the fastest would finish its present work and all `waiting` bytes before this lane finished
  /// `least`.
  [[nodiscard]] bool should_leave_to_faster_lane(lane_owner owner, work_kind which, std::uint64_t share,
                                                 std::uint64_t least, std::uint64_t waiting) const noexcept;

 private:
  /// A measured rate, in which the latest work counts most.
  struct measured_rate {
    double bytes = 0;
    double seconds = 0;
    void add(double more_bytes, double more_seconds);
    /// 0 before the first measurement.
    [[nodiscard]] double bytes_per_second() const { return bytes > 0 && seconds > 0 ? bytes / seconds : 0; }
  };
  struct device_state {
    device_configuration configuration;
    double expected = 0;         ///< bytes a second; 0 if not known
    double latency_seconds = 0;  ///< of a batch, as expected
    bool is_lost = false;
    std::uint64_t running = 0;  ///< batches that its lanes work on
    double since = 0;           ///< when a batch last began or ended
    measured_rate measured = {};

    [[nodiscard]] double rate() const;
  };

  [[nodiscard]] bool any_device_takes(work_kind which) const noexcept;
  /// Bytes a second of a device, or of one lane of the processor; 0 if not known.
  [[nodiscard]] double rate(lane_owner owner, work_kind which) const noexcept;

  std::uint64_t processor_lanes_;
  bool has_fingerprints_;
  work_plan plan_;
  processor_rates expected_ = {};
  measured_rate chunking_;
  measured_rate fingerprinting_;
  std::vector<device_state> devices_;
  bool defers_fingerprints_;  ///< changes only when a device is removed
};

}  // namespace cutpoint
