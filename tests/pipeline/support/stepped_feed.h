// A feed without threads and without a clock. The caller says which lane takes a task and when it hands the task back.
// Devices have lanes too, whose tasks the processor performs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/schedule/schedule.h"

namespace cutpoint {

/// One thread at a time.
class stepped_feed {
 public:
  using make_fingerprints = std::function<std::unique_ptr<batch_fingerprinter>()>;

  /// Makes lanes of the processor, of which the first feeds, and then those of each device that the plan uses.
  /// `receiver` must outlive the feed. Errors: as `engine::open`, but for threads and devices.
  [[nodiscard]] static result<std::unique_ptr<stepped_feed>> make(const feed_options& options,
                                                                  std::uint64_t processor_lanes,
                                                                  chunk_receiver& receiver,
                                                                  const make_fingerprints& fingerprints);

  // Feeding.

  void begin(std::uint64_t stream, std::size_t rule = 0) { intake_.begin(stream, rule); }
  /// Takes bytes. The feed must have room for them.
  void put(byte_span bytes);
  void end(status outcome);
  /// Makes the bytes that were taken known to the schedule.
  void publish() { schedule_.apply_update(intake_.take_update()); }
  /// Publishes, and ends the feed.
  void finish();
  [[nodiscard]] std::uint64_t room() const noexcept { return schedule_.room(intake_.cursor()); }

  // Lanes.

  [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.size(); }
  [[nodiscard]] lane_owner owner(std::size_t lane) const noexcept { return lanes_[lane].owner; }
  [[nodiscard]] bool is_busy(std::size_t lane) const noexcept { return lanes_[lane].current.has_value(); }
  /// Returns false if the lane finds no task.
  [[nodiscard]] bool take(std::size_t lane, double now);
  [[nodiscard]] const task& current_task(std::size_t lane) const { return *lanes_[lane].current; }
  /// Performs the lane's task if that was not done yet. Returns the work of each stage, to which the caller may add
  /// times.
  std::array<stage_work, stage_count>& perform(std::size_t lane);
  /// Hands back the lane's task, which must have been performed.
  void hand_back(std::size_t lane, double now);

  [[nodiscard]] const feed_configuration& configuration() const noexcept { return configuration_; }
  [[nodiscard]] schedule& work() noexcept { return schedule_; }
  /// The statistics with the work of all lanes.
  [[nodiscard]] feed_statistics statistics() const;

 private:
  struct driven_lane {
    lane tools;
    lane_owner owner = {};
    std::optional<task> current = {};
    bool is_performed = false;
    lane_record record = {};
  };

  stepped_feed(const feed_options& options, feed_configuration configuration, ring memory,
               std::vector<driven_lane> lanes, run_periods periods, chunk_receiver& receiver);

  feed_configuration configuration_;
  ring ring_;
  intake intake_;
  schedule schedule_;
  std::vector<driven_lane> lanes_;
};

}  // namespace cutpoint
