// Decides how many of the waiting bytes a lane takes at a time, and when a slow lane leaves work to a faster one.
//
// A lane takes the share of the waiting bytes that its rate has in the rates of all lanes (guided self-scheduling). So
// all lanes end at about the same time, and a slow lane never holds bytes for so long that the ring fills up behind
// them. Rates are first the expected ones and then those that were measured.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>

#include "pipeline/schedule/feed_configuration.h"

namespace cutpoint {

/// The owner of a lane: the index of one of the feed's devices, or nullopt for the processor.
using lane_owner = std::optional<std::size_t>;

/// A measured rate, in which the latest work counts most.
struct measured_rate {
  double bytes = 0;
  double seconds = 0;
  void add(double more_bytes, double more_seconds);
  /// 0 before the first measurement.
  [[nodiscard]] double bytes_per_second() const { return bytes > 0 && seconds > 0 ? bytes / seconds : 0; }
};

/// What all feeds of an engine together have of one device. A feed alone sees only its part of the device, but no part of
/// the processor's lanes, and so would leave the device too little.
struct device_load {
  std::uint64_t running = 0;        ///< batches that lanes work on
  std::uint64_t running_bytes = 0;  ///< of them
  double since = 0;                 ///< when a batch last began or ended
  measured_rate measured = {};
};

/// The loads of all devices of an engine.
class device_loads {
 public:
  /// By the GPU's number. What was measured is forgotten when the last feed with the device ends. Thread-safe; the load is not, and
  /// schedules with the same loads need one lock.
  [[nodiscard]] std::shared_ptr<device_load> of(int device) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<device_load>& known = each_[device];
    std::shared_ptr<device_load> load = known.lock();
    if (!load) known = load = std::make_shared<device_load>();
    return load;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::weak_ptr<device_load>> each_;
};

/// Not synchronised. Times are seconds of one clock, which all feeds with the same `device_loads` have.
class load_balance {
 public:
  /// `loads` must outlive it.
  load_balance(const feed_configuration& configuration, device_loads& loads);

  // Observations.

  void record_processor_work(const std::array<stage_work, stage_count>& work);
  void record_device_start(std::size_t device, std::uint64_t bytes, double now);
  void record_device_work(std::size_t device, std::uint64_t bytes, double now);
  /// Lets standby devices, which are open now, work too: the plan is `shared` from now on.
  void use_standby(const std::vector<device_configuration>& configurations);
  /// The device takes no more work. After the last one the plan is `processor`.
  void remove_device(std::size_t device);

  // Decisions.

  /// The kind of work for which standby devices pay, because the lanes of the processor are slower than expected by more than
  /// measurements vary. Nullopt if they do not pay, or if too little was measured since the last call.
  [[nodiscard]] std::optional<work_kind> work_for_standby();
  [[nodiscard]] work_plan plan() const noexcept { return plan_; }
  [[nodiscard]] bool has_devices() const noexcept;
  /// Whether a device that is still there cuts.
  [[nodiscard]] bool devices_cut() const noexcept { return any_device_takes(work_kind::cuts); }
  /// Whether a device fingerprints what the processor cuts, so that maps on the processor make no fingerprints.
  [[nodiscard]] bool defers_fingerprints() const noexcept { return defers_fingerprints_; }
  [[nodiscard]] bool may_take(lane_owner owner, work_kind which) const noexcept;
  /// Whether feeds have given the device so many batches that one more would only wait.
  [[nodiscard]] bool is_busy(std::size_t device) const noexcept;
  /// How many of `waiting` bytes a lane takes, at most `most`; `most` if a rate is not known.
  [[nodiscard]] std::uint64_t bytes_to_take(lane_owner owner, work_kind which, std::uint64_t waiting,
                                            std::uint64_t most) const noexcept;
  /// Whether a lane leaves work to the fastest lane: because its share is less than `least`, which is the least that it
  /// takes, or because the fastest would finish its present work and all `waiting` bytes before this lane finished
  /// `least`.
  [[nodiscard]] bool should_leave_to_faster_lane(lane_owner owner, work_kind which, std::uint64_t share,
                                                 std::uint64_t least, std::uint64_t waiting) const noexcept;

 private:
  struct device_state {
    device_configuration configuration;
    double expected = 0;         ///< bytes a second; 0 if not known
    double latency_seconds = 0;  ///< of a batch, as expected
    bool is_lost = false;
    std::shared_ptr<device_load> load;

    [[nodiscard]] double rate() const;
  };

  void add_devices(const std::vector<device_configuration>& configurations);
  [[nodiscard]] bool any_device_takes(work_kind which) const noexcept;
  /// Bytes a second of a device, or of one lane of the processor; 0 if not known.
  [[nodiscard]] double rate(lane_owner owner, work_kind which) const noexcept;

  device_loads* loads_;
  std::shared_ptr<const job_rates> rates_;
  std::uint64_t processor_lanes_;
  bool has_fingerprints_;
  work_plan plan_;
  processor_rates expected_ = {};
  measured_rate chunking_;
  measured_rate fingerprinting_;
  std::uint64_t tasks_since_check_ = 0;  ///< of the processor, since standby devices were considered
  std::vector<device_state> devices_;
  bool defers_fingerprints_;  ///< changes only when devices come or go
};

}  // namespace cutpoint
