// A feed without threads and without a clock: whoever drives it says which lane takes and hands back at what time. Lanes
// of devices are there as any others, and what they take is performed here.
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

  /// Lanes of the processor, of which the first feeds, then those of each device of the plan. `receiver` must outlive it. Errors: as `engine::open`
  /// of what is no machine's.
  [[nodiscard]] static result<std::unique_ptr<stepped_feed>> make(const feed_options& options,
                                                                  std::uint64_t processor_lanes,
                                                                  chunk_receiver& receiver,
                                                                  const make_fingerprints& fingerprints);

  // Feeding.

  void begin(std::uint64_t stream) { intake_.begin(stream); }
  /// Takes in bytes for which there is room.
  void put(byte_span bytes);
  void end(status outcome);
  /// Tells the schedule what was fed.
  void publish() { schedule_.apply_update(intake_.take_update()); }
  /// Tells, and that there is no more.
  void finish();
  [[nodiscard]] std::uint64_t room() const noexcept { return schedule_.room(intake_.cursor()); }

  // Lanes.

  [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.size(); }
  [[nodiscard]] lane_owner owner(std::size_t lane) const noexcept { return lanes_[lane].owner; }
  [[nodiscard]] bool is_busy(std::size_t lane) const noexcept { return lanes_[lane].taken.has_value(); }
  /// False where there is nothing that it takes.
  [[nodiscard]] bool take(std::size_t lane, double now);
  [[nodiscard]] const task& taken(std::size_t lane) const { return *lanes_[lane].taken; }
  /// Performs what the lane has taken, once, and says what went through which stage.
  std::array<stage_work, stage_count>& perform(std::size_t lane);
  /// Hands back what was performed.
  void hand_back(std::size_t lane, double now);

  [[nodiscard]] const feed_configuration& configuration() const noexcept { return configuration_; }
  [[nodiscard]] schedule& work() noexcept { return schedule_; }
  /// With what lanes spent, where their work was given times.
  [[nodiscard]] feed_statistics statistics() const;

 private:
  struct driven_lane {
    lane tools;
    lane_owner owner = {};
    std::optional<task> taken = {};
    bool is_performed = false;
    lane_record record = {};
  };

  stepped_feed(const feed_options& options, feed_configuration configuration, ring held, std::vector<driven_lane> lanes,
               run_periods periods, chunk_receiver& receiver);

  feed_configuration configuration_;
  ring ring_;
  intake intake_;
  schedule schedule_;
  std::vector<driven_lane> lanes_;
};

}  // namespace cutpoint
