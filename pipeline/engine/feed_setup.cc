// Sets a feed up, its configuration, devices and memory, and runs its lanes.
#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "pipeline/engine/engine_pool.h"
#include "pipeline/engine/threaded_feed.h"
#include "pipeline/schedule/sequence.h"

namespace cutpoint {

namespace {

/// Whether runs that the intake can shorten are a considerable part of the bytes. Reads few bytes outside runs.
bool has_many_runs(byte_span bytes) {
  std::uint64_t run_bytes = 0;
  auto run = find_run(bytes, 0, long_run_bytes);
  for (; run; run = find_run(bytes, run->last, long_run_bytes)) {
    run_bytes += run->last - run->first;
    if (run_bytes > bytes.size() / 16) return true;
  }
  return false;
}

/// The most that a feed with a ring of this size holds: the bytes, what is known about them, and chunks for the receiver.
std::uint64_t bytes_to_reserve(const feed_configuration& configuration, std::uint64_t ring_bytes) {
  return std::min(ring_bytes + ring_bytes / 7 + configuration.selection_bytes, configuration.memory_bytes) +
         configuration.kept_memory_bytes;
}

}  // namespace

result<std::vector<device_lanes>> open_devices(const device_provider& provider, feed_options& options,
                                               const std::vector<device_configuration>& wanted, std::string& warning) {
  std::vector<device_lanes> devices;
  for (const device_configuration& each : wanted) {
    CUTPOINT_TRY(auto lanes, device_lanes::open(provider, each.device, options, each));
    if (lanes.size() == 0) {
      warning = lanes.warning();
      std::erase(options.devices, each.device);
      break;
    }
    devices.push_back(std::move(lanes));
  }
  return devices;
}

status engine::pool::too_little_memory(std::string_view who, std::uint64_t least_bytes, std::uint64_t used_bytes,
                                       std::uint64_t enough_bytes) const {
  const std::uint64_t half_bytes = for_least.limit_bytes();
  return {status_code::memory_limit,
          fmt::format("{} at least {}, and open feeds leave {} of the {}, half of the engine's memory, that are for "
                      "what feeds need: "
                      "memory_bytes = {} of the engine would do",
                      who, format_size(least_bytes), format_size(half_bytes - std::min(half_bytes, used_bytes)),
                      format_size(half_bytes), format_size(enough_bytes))};
}

result<feed_setup> engine::pool::set_up(feed_options asked, const chunk_receiver& receiver, byte_span bytes) {
  feed_setup setup{.options = std::move(asked), .configuration = {}, .key = {}, .memory = {}};
  feed_options& options = setup.options;
  const bool may_stay = !bytes.empty() && !has_many_runs(bytes);
  if (may_stay && options.segment_bytes == 0) options.segment_bytes = usual_segment_bytes(options.cuts);
  const bool is_memory_limited = for_least.is_limited();
  if (is_memory_limited && stream_chunkers(options).reach() == unlimited) {  // with more it would find longer chunks
    options.memory_bytes = std::min(options.memory_bytes, for_least.limit_bytes());
  }
  const std::uint64_t allowed_bytes = options.memory_bytes;
  const std::uint64_t least_bytes = least_memory_bytes(options);
  const std::uint64_t allowed_on_device = options.device_memory_bytes;
  for (std::string warning;;) {
    if (is_memory_limited) {
      const std::uint64_t most_bytes = std::min(least_bytes, for_least.limit_bytes()) + for_more.available_bytes();
      options.memory_bytes = std::min(allowed_bytes, std::max(least_bytes, most_bytes));
    }
    options.device_memory_bytes = std::min(allowed_on_device, on_devices.available_bytes(options.devices));
    CUTPOINT_TRY(setup.configuration, make_feed_configuration(options, thread_count_, receiver));
    if (!warning.empty()) setup.configuration.device_warning = warning;
    const bool has_devices = !setup.configuration.devices.empty();
    setup.key = {.cuts = options.cuts.canonical(),
                 .fingerprint = options.fingerprint,
                 .devices = options.devices,
                 .configurations = setup.configuration.devices,
                 .device_memory_bytes = options.device_memory_bytes,
                 .ring_bytes = setup.configuration.ring_bytes};
    setup.memory = has_devices || !may_stay ? take_kept(setup.key) : nullptr;
    if (setup.memory == nullptr) {
      CUTPOINT_TRY(auto lanes, open_devices(*devices, options, setup.configuration.devices, warning));
      if (!warning.empty() && options.device_memory_bytes < allowed_on_device) {
        warning += fmt::format("; open feeds leave {} of the {} that the engine may use on each device",
                               format_size(options.device_memory_bytes), format_size(on_devices.limit_bytes()));
      }
      if (lanes.size() != setup.configuration.devices.size()) continue;
      setup.memory = std::make_unique<feed_memory>(std::move(lanes));
      if (!setup.memory->reserve_on_devices(setup.memory->devices, on_devices)) continue;
    }
    const bool stays = may_stay && setup.memory->stay_at(bytes, setup.configuration.pays_to_pin);
    const std::uint64_t reserved_bytes =
        stays ? bytes_to_reserve(setup.configuration, 0)
              : std::max(least_bytes, bytes_to_reserve(setup.configuration, setup.configuration.ring_bytes));
    const std::uint64_t least_reserved_bytes = std::min({reserved_bytes, least_bytes, for_least.limit_bytes()});
    const std::uint64_t used_bytes = for_least.used_bytes();
    const auto refused = [&](std::uint64_t others) {
      // One that is alone may have both halves.
      const status one = too_little_memory(fmt::format("a feed of {} needs", options.cuts.canonical()), least_bytes,
                                           others, others == 0 ? least_bytes : 2 * (others + least_bytes));
      return status(one.code(), fmt::format("{} for this one{} needs {} of it", one.message(),
                                            others == 0 ? " alone; of several, each" : "; each further one",
                                            format_size(2 * least_bytes)));
    };
    if (!for_least.reserve(least_reserved_bytes)) return refused(used_bytes);
    memory_budget::reservation least(for_least, least_reserved_bytes);
    if (!for_more.reserve(reserved_bytes - least_reserved_bytes)) {
      if (options.memory_bytes != least_bytes) continue;
      return refused(0);  // the only feed, or `least` would be all that it needs
    }
    setup.memory->hold(std::move(least), memory_budget::reservation(for_more, reserved_bytes - least_reserved_bytes));
    if (stays) {
      setup.configuration.intake.shortens_runs = false;
      setup.configuration.standby.clear();  // for which the bytes would have to be locked
    } else if (!setup.memory->has_own_ring()) {
      CUTPOINT_TRY(auto new_ring, ring::make(setup.configuration.ring_bytes));
      const int node = has_devices ? setup.memory->devices.front().node() : -1;
      if (places && node >= 0) {  // else it lies where it is first written
        static_cast<void>(places->bind_memory(new_ring.at(0), new_ring.size(), node));
      }
      setup.memory->set_own_ring(std::move(new_ring));
    }
    break;
  }
  for (std::size_t i = 0; i < setup.memory->devices.size(); ++i) {
    setup.configuration.devices[i].fingerprints = setup.memory->devices[i].fingerprints();
  }
  return setup;
}

// What the lanes of a feed do: they take tasks under the lock, perform them without it, and hand them back.

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
  run_or_fail([&] { next_task = schedule_.take_for_device(device, pool_.now()); });
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

void feed::threaded_feed::consider_standby() {
  if (standby_thread_.joinable()) return;
  const auto work = schedule_.work_for_standby();
  if (!work) return;
  const signals_blocked quiet;
  try {
    standby_thread_ = std::thread([this, work] { open_standby(*work); });
  } catch (const std::system_error&) {
    schedule_.drop_standby();
  }
}

void feed::threaded_feed::open_standby(work_kind work) {
  for (device_configuration& each : standby_) each.work = work;
  std::string warning;
  std::vector<device_lanes> new_devices;
  bool is_ready = false;
  try {
    auto lanes = open_devices(*pool_.devices, options_, standby_, warning);
    if (!lanes) warning = lanes.error().message();
    if (lanes && lanes->size() == standby_.size()) {
      new_devices = *std::move(lanes);
      is_ready = memory_->admit(new_devices, pool_.on_devices);
      if (!is_ready) warning = "other feeds have taken the rest of the memory that the engine may use on devices";
    }
  } catch (const std::bad_alloc&) {  // the processor needs less
  }
  const std::lock_guard lock(pool_.mutex);
  device_warning_ = std::move(warning);
  if (!is_ready) return schedule_.drop_standby();
  devices_ = std::move(new_devices);  // does not move the lanes, to which locks refer
  run_or_fail([&] {
    for (std::size_t i = 0; i < standby_.size(); ++i) standby_[i].fingerprints = devices_[i].fingerprints();
    memory_key_.configurations = standby_;
    if (is_dropped_) return;
    schedule_.use_standby(std::move(standby_));
    const status started = start();
    if (started.ok()) return;
    device_warning_ = started.message();
    for (std::size_t d = 0; d < devices_.size(); ++d) schedule_.remove_device(d);
  });
}

void feed::threaded_feed::hand_back(task done, std::uint64_t lane_index) {
  run_or_fail([&] {
    schedule_.complete(std::move(done), lanes_[lane_index].work, pool_.now());
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
