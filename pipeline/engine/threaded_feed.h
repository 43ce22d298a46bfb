// A feed on the engine's threads: the feeding thread writes into the ring, and lanes perform the tasks of the schedule.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/source.h>
#include <cutpoint/trace.h>

#include "pipeline/engine/engine_pool.h"
#include "pipeline/schedule/lane.h"
#include "pipeline/schedule/schedule.h"

namespace cutpoint {

// The trace of a feed: hands notes and queue levels to the receiver, under the engine's lock.

class feed_trace {
 public:
  feed_trace() = default;
  /// Lets every lane keep notes.
  feed_trace(trace_receiver& receiver, std::span<lane> lanes, std::span<const lane_record> records)
      : receiver_(&receiver), opening_time_(span_notes::clock::now()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].notes = std::make_unique<span_notes>(span_notes{i, records[i].device, opening_time_});
    }
    receiver.begin(opening_time_, records);
  }

  /// Hands over the notes of `worker`, and `levels` with the present time.
  void hand_over(lane& worker, trace_levels levels) {
    if (receiver_ == nullptr) return;
    for (const trace_span& span : worker.notes->spans) receiver_->take(span);
    worker.notes->spans.clear();
    levels.at = worker.notes->seconds(span_notes::clock::now());
    receiver_->take(levels);
  }

 private:
  trace_receiver* receiver_ = nullptr;
  span_notes::clock::time_point opening_time_ = {};
};

/// Not synchronised. Times are seconds since the feed was opened.
class queue_meter {
 public:
  /// Records how full the queues are from `now` on.
  void record(const trace_levels& levels, double now) {
    const std::array<std::uint64_t, 4> seen = {levels.held_bytes, levels.waiting_segments,
                                               levels.waiting_fingerprint_bytes, levels.waiting_delivery_bytes};
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      queue& measured = queues_[i];
      measured.area += static_cast<double>(measured.value) * (now - since_);
      measured.value = seen[i];
      measured.most = std::max(measured.most, measured.value);
    }
    since_ = now;
  }

  void publish(feed_statistics& statistics, double now) const {
    const std::array<occupancy*, 4> places = {&statistics.held_bytes, &statistics.waiting_segments,
                                              &statistics.waiting_fingerprints, &statistics.waiting_deliveries};
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const queue& measured = queues_[i];
      const double area = measured.area + static_cast<double>(measured.value) * (now - since_);
      *places[i] = {.mean = now > 0 ? area / now : 0, .most = measured.most};
    }
  }

 private:
  struct queue {
    double area = 0;
    std::uint64_t value = 0;
    std::uint64_t most = 0;
  };
  std::array<queue, 4> queues_ = {};
  double since_ = 0;
};

class feed::threaded_feed final : public task_source {
 public:
  /// `lanes` has those of the processor first, then those of the devices. The setup's memory is kept under its key after the feed.
  threaded_feed(engine::pool& pool, feed_setup setup, const stream_chunkers& cuts, std::vector<lane> lanes,
                run_periods periods, chunk_receiver& receiver);
  threaded_feed(const threaded_feed&) = delete;
  threaded_feed& operator=(const threaded_feed&) = delete;
  ~threaded_feed();

  /// Call it before `start`.
  void trace(trace_receiver& receiver);
  /// Starts the threads that wait for its devices. Errors: unavailable.
  [[nodiscard]] status start();

  bool perform_one_task(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) override;

  // The feeding thread calls these through `guarded`, because they may throw std::bad_alloc.

  [[nodiscard]] status begin(std::uint64_t stream, std::size_t rule);
  [[nodiscard]] result<std::span<std::uint8_t>> space();
  [[nodiscard]] std::uint64_t room();
  [[nodiscard]] result<byte_span> read(const shared_range& range);
  void stop_reading() noexcept;
  [[nodiscard]] status commit(std::uint64_t count);
  [[nodiscard]] status write_zeros(std::uint64_t count);
  [[nodiscard]] status end(status outcome);
  [[nodiscard]] status finish();

  /// Returns what `calling` returns. If memory runs out, fails the feed.
  template <class Calling>
  auto guarded(Calling&& calling) -> decltype(calling()) {
    try {
      return calling();
    } catch (const std::bad_alloc&) {
      std::unique_lock lock(pool_.mutex);
      schedule_.fail(out_of_memory());
      wait_for_running_tasks(lock);
      return out_of_memory();
    }
  }

  [[nodiscard]] status failure() const;
  [[nodiscard]] feed_statistics statistics() const;

 private:
  /// Calls `doing` under the lock, on any thread. If memory runs out, fails the feed.
  template <class Doing>
  void run_or_fail(Doing&& doing) noexcept {
    try {
      doing();
    } catch (const std::bad_alloc&) {
      schedule_.fail(out_of_memory());
    }
  }

  /// If the feed has failed, returns true and wakes the threads that wait for its tasks.
  bool notify_failure();
  void hand_back(task done, std::uint64_t lane_index);
  /// Hands over what the lane has noted, and records how full the queues are.
  void record_queue_levels(std::uint64_t lane_index);
  [[nodiscard]] stage_meter intake_meter() { return {stage::intake, intake_work_, lanes_.front().notes.get()}; }

  /// Opens the standby devices on a thread of its own, if the processor's lanes have become slow.
  void consider_standby();
  void open_standby(work_kind work);
  /// The loop of a thread that waits for a device.
  void run_lane(std::size_t device, std::size_t device_lane, std::uint64_t lane_index);
  bool perform_one_device_task(std::unique_lock<std::mutex>& lock, std::size_t device, std::size_t device_lane,
                               std::uint64_t lane_index);

  /// Seconds since the feed was opened.
  [[nodiscard]] double now() const;
  /// A single lane reads no more at a time than it can then work on in the cache.
  [[nodiscard]] std::uint64_t most_room() const;
  [[nodiscard]] std::uint64_t preferred_room() const;
  [[nodiscard]] std::span<std::uint8_t> room_of(std::uint64_t bytes);
  /// Waits for the first read.
  [[nodiscard]] result<byte_span> finish_read(std::unique_lock<std::mutex>& lock);
  void stop_reading(std::unique_lock<std::mutex>& lock) noexcept;
  /// Whether the feed's bytes can still be counted in 64 bits after `count` more.
  [[nodiscard]] status check_count(std::uint64_t count) const;
  /// Takes whole chunks of `count` zeros without writing them, where the cuts that are known permit it. Returns their bytes.
  [[nodiscard]] result<std::uint64_t> count_zeros(std::uint64_t count);
  void close(range_end how, status outcome);
  /// Publishes the bytes that were taken if there are enough of them. Then performs tasks while more segments wait than
  /// the other lanes can take.
  [[nodiscard]] status publish_if_due(status outcome, std::uint64_t count);
  void publish(const std::unique_lock<std::mutex>& lock);
  [[nodiscard]] status failed(std::unique_lock<std::mutex>& lock);
  void wait_for_running_tasks(std::unique_lock<std::mutex>& lock);
  /// Whether a task of this feed, or of any other that takes its thread, will be handed back.
  [[nodiscard]] bool can_wait_for_progress() const {
    return schedule_.has_running() || schedule_.has_device_work() || pool_.is_busy();
  }

  engine::pool& pool_;
  feed_memory_key memory_key_;
  std::unique_ptr<feed_memory> memory_;
  ring& ring_;
  std::vector<device_lanes>& devices_;
  intake intake_;  ///< used by the feeding thread only
  schedule schedule_;
  std::vector<lane> lanes_;  ///< each is used by its thread only; those of the pool come first
  const bool is_alone_;      ///< has a single lane when it is opened
  std::vector<device_configuration> standby_;
  feed_options options_;        ///< for the standby devices
  std::thread standby_thread_;  ///< opens these devices, and is the only one to use these two
  std::string device_warning_;
  const std::size_t rule_count_;  ///< with rule 0
  std::vector<std::thread> device_threads_;
  bool is_dropped_ = false;
  std::vector<lane_record> totals_;
  std::uint64_t device_bytes_ = 0;  ///< cut by devices, in tasks that were handed back
  const std::chrono::steady_clock::time_point opening_time_ = std::chrono::steady_clock::now();
  queue_meter watch_;
  feed_trace trace_;
  bool is_open_ = false;
  bool is_reading_ = false;  ///< lanes may use the reader of a range
  bool is_polled_ = false;   ///< the feeding thread works only if there is no room
  stage_work intake_work_;
  std::uint64_t unpublished_bytes_ = 0;
  std::uint64_t unpublished_calls_ = 0;
};

/// Lets no thread use a reader that its owner may destroy from now on.
struct reading_stop {
  feed* reading = nullptr;

  ~reading_stop() {
    if (reading != nullptr) reading->stop_reading();
  }
};

/// Feeds the source's next hole or block to the stream that has begun. At the end of the source, or if it fails, ends
/// the stream and returns false or the failure.
[[nodiscard]] result<bool> feed_next_block(feed& feed, source& source);

}  // namespace cutpoint
