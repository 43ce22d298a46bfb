// How a feed's work is shared among lanes of different speeds: how much of what waits one takes at a time, what one leaves
// to a faster one at the end, and by which plan. It goes by the rates that were expected until it has seen others. It has
// no clock: whoever drives it says what time it is.
//
// Lanes take what they take for their share of the work that waits (guided self-scheduling): so all end at about the same
// time, and what a slow one has taken is never so much that the others, who may go no further than the ring has room, wait
// for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <cutpoint/engine.h>

#include "pipeline/dispatch/feed_configuration.h"

namespace cutpoint {

/// Whose lane it is: the number of a feed's device, or nothing for the processor.
using lane_owner = std::optional<std::size_t>;

/// What there is to take of one kind of work, and what the lanes of each device are at.
enum class work_kind { cuts, fingerprints };

/// Who may take what by a plan.
struct work_assignment {
  bool processor_cuts = true;
  bool devices_cut = false;
  bool devices_fingerprint = false;  ///< what the processor has cut
  double deferred_share = 0;         ///< of what the processor cuts, that is left to devices to fingerprint
};

class load_balance {
 public:
  explicit load_balance(const feed_configuration& plan);

  // What is seen.

  void record_processor_work(const std::array<stage_work, stage_count>& work);
  void record_device_start(std::size_t device, double now);
  void record_device_work(std::size_t device, work_kind which, std::uint64_t bytes, double now);
  /// From now on it takes nothing.
  void remove_device(std::size_t device);
  /// Considers the plan anew by what was seen, from time to time.
  void revise(double now);

  // What follows.

  [[nodiscard]] work_plan plan() const noexcept { return plan_; }
  [[nodiscard]] const work_assignment& assignment() const noexcept { return assignment_; }
  [[nodiscard]] const std::vector<plan_prediction>& predictions() const noexcept { return predictions_; }
  [[nodiscard]] bool has_devices() const noexcept;
  /// Of fingerprints, those that were left.
  [[nodiscard]] bool may_take(lane_owner owner, work_kind which) const noexcept;
  /// Bytes that a lane takes of `waiting` ones; `most` where rates are not known.
  [[nodiscard]] std::uint64_t bytes_to_take(lane_owner owner, work_kind which, std::uint64_t waiting,
                                            std::uint64_t most) const noexcept;
  /// Whether a lane leaves work to a faster one: its share is less than `least`, which it would take, or the fastest would
  /// be done with all that waits and all that it is at before this one with `least`.
  [[nodiscard]] bool should_leave_to_faster_lane(lane_owner owner, work_kind which, std::uint64_t share,
                                                 std::uint64_t least, std::uint64_t waiting) const noexcept;
  /// Of what the processor cuts next, whether it is left to devices to fingerprint.
  [[nodiscard]] bool defer_next_fingerprints() noexcept;

 private:
  /// Bytes and seconds, of which the latest count most.
  struct seen_rate {
    double bytes = 0;
    double seconds = 0;
    void add(double more_bytes, double more_seconds);
    [[nodiscard]] std::optional<double> bytes_per_second() const;
  };
  struct device_state {
    device_configuration configuration;
    bool is_lost = false;
    std::uint64_t running = 0;            ///< batches that its lanes are at
    double since = 0;                     ///< its last event
    double latency_seconds = 0;           ///< of a batch, as expected
    std::array<double, 2> expected = {};  ///< by `work_kind`; bytes a second
    std::array<seen_rate, 2> seen = {};

    /// What it does of what was expected, by the first kind of work that it was seen at; nothing where there is none.
    [[nodiscard]] std::optional<double> factor() const;
  };

  void switch_to(work_plan plan);
  void predict();
  /// The rates that were expected, corrected by what was seen.
  [[nodiscard]] job_rates corrected() const;
  /// Bytes a second of a lane that has its owner to itself; 0 where not known.
  [[nodiscard]] double undivided_rate(lane_owner owner, work_kind which) const noexcept;

  std::uint64_t processor_lanes_;
  bool has_fingerprints_;
  std::vector<work_plan> choices_;
  std::optional<job_rates> expected_;
  std::vector<device_state> devices_;
  seen_rate chunking_;
  seen_rate fingerprinting_;
  work_plan plan_ = work_plan::processor;
  work_assignment assignment_;
  double deferred_credit_ = 0;
  double revised_ = 0;  ///< when the plan was considered last
  std::vector<plan_prediction> predictions_;
};

}  // namespace cutpoint
