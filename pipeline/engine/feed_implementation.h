// A feed: what is fed goes into the ring, and lanes perform what its schedule has for them.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/engine/engine_pool.h"
#include "pipeline/engine/feed_trace.h"
#include "pipeline/schedule/queue_meter.h"
#include "pipeline/schedule/schedule.h"

namespace cutpoint {

/// What a feed takes in before others are told.
inline constexpr std::uint64_t publish_threshold_bytes = 256 * KiB;

class feed::implementation {
 public:
  implementation(engine::pool& threads, const feed_configuration& plan, const chunker& cuts, ring held,
                 std::vector<lane> lanes, std::vector<device_lanes> devices, std::string device_warning,
                 run_periods periods, chunk_receiver& receiver)
      : pool_(threads),
        ring_(std::move(held)),
        intake_(ring_, cuts, std::move(periods), plan.intake),
        schedule_(plan, cuts, ring_, receiver),
        lanes_(std::move(lanes)),
        devices_(std::move(devices)),
        device_warning_(std::move(device_warning)),
        help_threshold_segments_(help_threshold_segments(plan)),
        totals_(lanes_.size()) {
    std::size_t lane_index = plan.lane_count;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (std::size_t k = 0; k < devices_[i].size(); ++k) totals_[lane_index++].device = devices_[i].device();
    }
    const std::lock_guard lock(pool_.mutex);
    pool_.feeds.push_back(this);
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation() {
    {
      std::unique_lock lock(pool_.mutex);
      schedule_.fail({status_code::cancelled, {}});  // nobody reads it, and there may be no memory to say more
      wait_for_running_tasks(lock);
      std::erase(pool_.feeds, this);
      is_dropped_ = true;
    }
    pool_.work.notify_all();
    for (std::thread& waiting : device_threads_) waiting.join();
    if (!devices_.empty()) devices_.front().unpin(ring_);
  }

  /// Before `start`.
  void trace(trace_receiver& receiver) {
    const std::lock_guard lock(pool_.mutex);
    trace_ = feed_trace(receiver, lanes_, totals_);
  }

  /// Starts the devices' threads.
  status start() {
    if (!devices_.empty()) devices_.front().pin(ring_);
    const signals_blocked quiet;
    std::uint64_t lane_index = pool_.thread_count();
    try {
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        for (std::size_t i = 0; i < devices_[d].size(); ++i, ++lane_index) {
          device_threads_.emplace_back([this, d, i, lane_index] { run_lane(d, i, lane_index); });
        }
      }
    } catch (const std::system_error& error) {
      return {status_code::unavailable,
              fmt::format("threads that wait for a device cannot be started: {}", error.what()), error.code().value()};
    }
    return {};
  }

  /// Takes one task, performs it without the lock, and hands it back. False where there is none to take; true also where
  /// it turns out that the feed has failed.
  bool perform_one_task(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) {
    const bool has_failed = !schedule_.failure().ok();
    std::optional<task> taken;
    run_or_fail([&] { taken = schedule_.take(lane_index == 0 ? lane_role::feeds : lane_role::works); });
    if (!taken) return !has_failed && notify_failure();
    lane& worker = lanes_[lane_index];
    worker.work = {};
    lock.unlock();
    perform(*taken, schedule_.context(), worker);
    lock.lock();
    hand_back(*std::move(taken), lane_index);
    return true;
  }

  // The feeding side, whose calls may throw std::bad_alloc; `guarded` makes a failure of it.

  status begin(std::uint64_t stream) {
    intake_.begin(stream);
    is_open_ = true;
    return {};
  }

  result<std::span<std::uint8_t>> space() {
    std::unique_lock lock(pool_.mutex);
    for (;;) {
      if (!schedule_.failure().ok()) return failed(lock);
      const std::uint64_t room = schedule_.room(intake_.cursor());
      if (room >= preferred_room()) return room_of(room);
      publish(lock);
      if (perform_one_task(lock, 0)) continue;
      if (room != 0) return room_of(room);
      schedule_.allow_small_batches();
      if (schedule_.has_running() || schedule_.has_device_work()) {
        pool_.progress.wait(lock);
      } else if (status relieved = schedule_.make_room(); !relieved.ok()) {
        close(range_end::failed, relieved);
        return relieved;
      }
    }
  }

  status commit(std::uint64_t count) {
    if (status countable = check_count(count); !countable.ok()) return countable;
    status taken;
    measure(intake_meter(), [&] {
      taken = intake_.commit(count);
      return count;
    });
    return publish_if_due(std::move(taken), count);
  }

  status write_zeros(std::uint64_t count) {
    if (status countable = check_count(count); !countable.ok()) return countable;
    while (count != 0) {
      const auto room = space();
      if (!room) return room.error();
      result<std::uint64_t> taken = std::uint64_t{0};
      measure(intake_meter(), [&] {
        taken = intake_.commit_zeros(count, room->size());
        return taken ? *taken : 0;
      });
      if (status told = publish_if_due(taken ? status() : taken.error(), taken ? *taken : 0); !told.ok()) return told;
      count -= *taken;
    }
    return {};
  }

  /// Whether a feed of so many more bytes can still be counted in 64 bits.
  [[nodiscard]] status check_count(std::uint64_t count) const {
    const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() - intake_.taken_bytes();
    if (count <= largest) return {};
    return {status_code::invalid_argument, std::to_string(count) + " bytes cannot be fed: a feed takes 2^64 - 1, and " +
                                               std::to_string(intake_.taken_bytes()) + " were fed before"};
  }

  status end(status outcome) {
    const range_end how = outcome.ok() ? range_end::stream : range_end::failed;
    if (is_open_) close(how, std::move(outcome));
    return publish_if_due({}, 0);
  }

  status finish() {
    std::unique_lock lock(pool_.mutex);
    publish(lock);
    schedule_.finish();
    pool_.work.notify_all();
    for (;;) {
      if (!schedule_.failure().ok()) return failed(lock);
      if (schedule_.is_done()) return {};
      if (perform_one_task(lock, 0)) continue;
      assert(schedule_.has_running() || schedule_.has_device_work());
      pool_.progress.wait(lock);
    }
  }

  /// What `calling` gives; the feed has failed where there is no memory for it.
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

  status failure() const {
    const std::lock_guard lock(pool_.mutex);
    return schedule_.failure();
  }

  feed_statistics statistics() const {
    const std::lock_guard lock(pool_.mutex);
    feed_statistics all = schedule_.statistics();
    all.fed_bytes = intake_.taken_bytes();
    all.lanes = totals_;
    for (const lane& each : lanes_) all.device_bytes += each.device_bytes;
    all.device_warning = device_warning_;
    for (const device_lanes& each : devices_) {
      if (all.device_warning.empty()) all.device_warning = each.warning();
    }
    watch_.publish(all, now());
    all.held_bytes.capacity = ring_.size();
    all.lanes[0].work[static_cast<std::size_t>(stage::intake)] = intake_work_;
    return all;
  }

 private:
  /// Under the lock, on any thread: what there is no memory for fails the feed.
  template <class Doing>
  void run_or_fail(Doing&& doing) noexcept {
    try {
      doing();
    } catch (const std::bad_alloc&) {
      schedule_.fail(out_of_memory());
    }
  }

  /// Wakes who waits for tasks that are not there any more, if the feed has failed; whether it has.
  bool notify_failure() {
    if (schedule_.failure().ok()) return false;
    pool_.progress.notify_all();
    return true;
  }

  void hand_back(task done, std::uint64_t lane_index) {
    run_or_fail([&] {
      schedule_.complete(std::move(done), lanes_[lane_index].work, now());
      add(totals_[lane_index], lanes_[lane_index].work);
      record_queue_levels(lane_index);
    });
    pool_.work.notify_all();
    pool_.progress.notify_all();
  }

  /// What the lane has noted, and how full the queues are now.
  void record_queue_levels(std::uint64_t lane_index) {
    const trace_levels levels = schedule_.levels();
    watch_.record(levels, now());
    trace_.hand_over(lanes_[lane_index], levels);
  }

  stage_meter intake_meter() { return {stage::intake, intake_work_, lanes_.front().notes.get()}; }

  /// The life of a thread that waits for a device.
  void run_lane(std::size_t device, std::size_t device_lane, std::uint64_t lane_index) {
    const int node = devices_[device].node();
    if (pool_.places && node >= 0) pool_.bind([&] { return pool_.places->bind_thread_to_node(node); });
    std::unique_lock lock(pool_.mutex);
    while (!is_dropped_) {
      if (!perform_one_device_task(lock, device, device_lane, lane_index)) pool_.work.wait(lock);
    }
  }

  bool perform_one_device_task(std::unique_lock<std::mutex>& lock, std::size_t device, std::size_t device_lane,
                               std::uint64_t lane_index) {
    const bool has_failed = !schedule_.failure().ok();
    std::optional<task> taken;
    run_or_fail([&] { taken = schedule_.take_for_device(device, now()); });
    if (!taken) return !has_failed && notify_failure();
    lane& worker = lanes_[lane_index];
    worker.work = {};
    lock.unlock();
    status failure = devices_[device].perform(*taken, schedule_.context(), worker, device_lane);
    lock.lock();
    if (!failure.ok()) {
      schedule_.remove_device(device);
      run_or_fail([&] { devices_[device].record_failure(failure); });
    }
    hand_back(*std::move(taken), lane_index);
    return true;
  }

  /// Seconds since the feed was opened.
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count(); }

  /// One lane reads no more at a time than it then works on in the cache.
  std::uint64_t most_room() const { return lanes_.size() == 1 ? most_room_alone : most_room_shared; }
  std::uint64_t preferred_room() const { return std::min(most_room(), ring_.size() / 8); }

  std::span<std::uint8_t> room_of(std::uint64_t bytes) const {
    return {ring_.at(intake_.cursor()), std::min(bytes, most_room())};
  }

  void close(range_end how, status outcome) {
    intake_.end(how, std::move(outcome));
    is_open_ = false;
  }

  /// Tells the others when it is worth it, and lends a hand when more is waiting than they can take.
  status publish_if_due(status outcome, std::uint64_t count) {
    unpublished_bytes_ += count;
    if (outcome.ok() && unpublished_bytes_ < publish_threshold_bytes && ++unpublished_calls_ < 1024) return {};
    std::unique_lock lock(pool_.mutex);
    if (!outcome.ok()) schedule_.fail(std::move(outcome));
    publish(lock);
    while (schedule_.waiting_segments() >= help_threshold_segments_ && perform_one_task(lock, 0)) {
    }
    return schedule_.failure().ok() ? status() : failed(lock);
  }

  void publish(const std::unique_lock<std::mutex>&) {
    unpublished_bytes_ = 0;
    unpublished_calls_ = 0;
    intake_update update = intake_.take_update();
    if (schedule_.failure().ok())
      schedule_.apply_update(std::move(update));  // after it something may not have been learnt
    record_queue_levels(0);
    pool_.work.notify_all();
  }

  status failed(std::unique_lock<std::mutex>& lock) {
    wait_for_running_tasks(lock);
    return schedule_.failure();
  }

  void wait_for_running_tasks(std::unique_lock<std::mutex>& lock) {
    pool_.progress.wait(lock, [&] { return !schedule_.has_running(); });
  }

  engine::pool& pool_;
  ring ring_;
  intake intake_;  ///< of the feeding thread
  schedule schedule_;
  std::vector<lane> lanes_;  ///< each of its thread: the pool's, then the device's
  std::vector<device_lanes> devices_;
  std::string device_warning_;
  std::uint64_t help_threshold_segments_;  ///< waiting ones, with which the feeding thread lends a hand
  std::vector<std::thread> device_threads_;
  bool is_dropped_ = false;
  std::vector<lane_record> totals_;
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  queue_meter watch_;
  feed_trace trace_;
  bool is_open_ = false;
  stage_work intake_work_;
  std::uint64_t unpublished_bytes_ = 0;
  std::uint64_t unpublished_calls_ = 0;
};

}  // namespace cutpoint
