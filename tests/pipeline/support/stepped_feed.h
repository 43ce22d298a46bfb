// A feed without threads and without a clock. The caller says which lane takes a task and when it hands the task back.
// Devices have lanes too, whose tasks the processor performs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/schedule/schedule.h"
#include "tests/host/support/choices.h"

namespace cutpoint {

/// One thread at a time.
class stepped_feed {
 public:
  using make_fingerprints = std::function<std::unique_ptr<batch_fingerprinter>()>;

  /// Makes lanes of the processor, of which the first feeds, and then those of each device that the plan uses.
  /// `receiver` must outlive the feed, and so must `loads`, which are those of an engine; without, the feed is alone. Errors: as
  /// `engine::open`, but for threads and devices.
  [[nodiscard]] static result<std::unique_ptr<stepped_feed>> make(const feed_options& options,
                                                                  std::uint64_t processor_lanes,
                                                                  chunk_receiver& receiver,
                                                                  const make_fingerprints& fingerprints,
                                                                  device_loads* loads = nullptr);

  // Feeding.

  void begin(std::uint64_t stream, std::size_t rule = 0) { intake_.begin(stream, rule); }
  /// Takes bytes. The feed must have room for them.
  void put(byte_span bytes);
  /// Lets lanes read a range, which begins with what is being read. Returns whether more of it is read now.
  bool start_reads(const shared_range& range);
  /// Takes the bytes of the first read, and returns their number; 0 if it is not done.
  std::uint64_t take_read();
  void end(status outcome);
  /// Makes the bytes that were taken known to the schedule. Standby devices are opened in no time.
  void publish();
  /// Publishes, and ends the feed.
  void finish();
  [[nodiscard]] std::uint64_t room() const noexcept { return schedule_.room(intake_.cursor()); }

  // Lanes.

  [[nodiscard]] std::size_t lane_count() const noexcept { return lanes_.size(); }
  [[nodiscard]] lane_owner owner(std::size_t lane) const noexcept { return lanes_[lane].owner; }
  /// The number of the lane's GPU, if it is of a device.
  [[nodiscard]] int device(std::size_t lane) const noexcept { return lanes_[lane].record.device; }
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
               std::vector<driven_lane> lanes, run_periods periods, device_loads* loads, chunk_receiver& receiver);

  feed_configuration configuration_;
  device_loads own_loads_;
  ring ring_;
  intake intake_;
  schedule schedule_;
  std::vector<driven_lane> lanes_;
  bool is_dropping_ = false;  ///< reads, since one before them was short
};

}  // namespace cutpoint

namespace cutpoint::tests {

// Lanes without threads, in virtual time. A generator draws which lane takes a task when, how long the task lasts, and
// when bytes are fed. So equal seeds give equal histories.

/// A stream to feed: its bytes, the outcome with which it ends, and the rule by which it is cut.
struct fed_stream {
  std::vector<std::uint8_t> bytes;
  status outcome = {};
  std::size_t rule = 0;
};

/// Disturbances of a feed. By default there are none.
struct disturbance {
  /// The step at which `cancel` is requested.
  std::uint64_t cancel_at = ~std::uint64_t{0};
  cancellation* cancel = nullptr;
  /// The step at which the first device fails.
  std::uint64_t lose_device_at = ~std::uint64_t{0};
};

/// The result of a feed on virtual lanes.
struct virtual_outcome {
  status outcome;
  std::string fault;  ///< the rule of scheduling that was broken; empty if none was
  std::uint64_t steps = 0;
  std::uint64_t fed_streams = 0;  ///< number of streams that were begun
  feed_statistics statistics;
};

/// Feeds `streams` to `receiver`, in pieces of random sizes. There are `lane_count` virtual processor lanes, and those
/// of the devices that the work plan uses.
[[nodiscard]] virtual_outcome run_on_virtual_lanes(const feed_options& options, std::uint64_t lane_count,
                                                   const std::vector<fed_stream>& streams, chunk_receiver& receiver,
                                                   choices& random, const disturbance& trouble = {});

}  // namespace cutpoint::tests
