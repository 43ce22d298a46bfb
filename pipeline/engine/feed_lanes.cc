// What the lanes of a feed do: they take tasks under the lock, perform them without it, and hand them back.
#include <chrono>
#include <utility>

#include "pipeline/engine/threaded_feed.h"

namespace cutpoint {

bool feed::threaded_feed::perform_one_task(std::unique_lock<std::mutex>& lock, std::uint64_t lane_index) {
  if (pool_.is_busy()) return false;
  const bool has_failed = !schedule_.failure().ok();
  std::optional<task> next_task;
  run_or_fail([&] { next_task = schedule_.take(lane_index == 0 ? lane_role::feeds : lane_role::works); });
  if (!next_task) return !has_failed && notify_failure();
  lane& worker = lanes_[lane_index];
  worker.work = {};
  ++pool_.working_threads;
  lock.unlock();
  perform(*next_task, schedule_.context(), worker);
  lock.lock();
  --pool_.working_threads;
  hand_back(*std::move(next_task), lane_index);
  return true;
}

void feed::threaded_feed::run_lane(std::size_t device, std::size_t device_lane, std::uint64_t lane_index) {
  const int node = devices_[device].node();
  if (pool_.places && node >= 0) pool_.bind([&] { return pool_.places->bind_thread_to_node(node); });
  std::unique_lock lock(pool_.mutex);
  while (!is_dropped_) {
    if (!perform_one_device_task(lock, device, device_lane, lane_index)) pool_.work.wait(lock);
  }
}

bool feed::threaded_feed::perform_one_device_task(std::unique_lock<std::mutex>& lock, std::size_t device,
                                                  std::size_t device_lane, std::uint64_t lane_index) {
  const bool has_failed = !schedule_.failure().ok();
  std::optional<task> next_task;
  run_or_fail([&] { next_task = schedule_.take_for_device(device, now()); });
  if (!next_task) return !has_failed && notify_failure();
  lane& worker = lanes_[lane_index];
  worker.work = {};
  lock.unlock();
  status failure = devices_[device].perform(*next_task, schedule_.context(), worker, device_lane);
  lock.lock();
  if (!failure.ok()) {
    schedule_.remove_device(device);
    run_or_fail([&] { devices_[device].record_failure(failure); });
  }
  hand_back(*std::move(next_task), lane_index);
  return true;
}

void feed::threaded_feed::hand_back(task done, std::uint64_t lane_index) {
  run_or_fail([&] {
    schedule_.complete(std::move(done), lanes_[lane_index].work, now());
    add(totals_[lane_index], lanes_[lane_index].work);
    device_bytes_ += std::exchange(lanes_[lane_index].device_bytes, 0);
    record_queue_levels(lane_index);
  });
  pool_.work.notify_all();
  pool_.progress.notify_all();
}

bool feed::threaded_feed::notify_failure() {
  if (schedule_.failure().ok()) return false;
  pool_.progress.notify_all();
  return true;
}

void feed::threaded_feed::record_queue_levels(std::uint64_t lane_index) {
  const trace_levels levels = schedule_.levels();
  watch_.record(levels, now());
  trace_.hand_over(lanes_[lane_index], levels);
}

double feed::threaded_feed::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - opening_time_).count();
}

}  // namespace cutpoint
