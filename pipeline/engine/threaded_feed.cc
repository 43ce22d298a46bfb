#include "pipeline/engine/threaded_feed.h"

#include <cassert>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace cutpoint {

/// The feeding thread publishes what it has taken after so many bytes, or after so many calls.
constexpr std::uint64_t publish_threshold_bytes = 256 * KiB;
constexpr std::uint64_t publish_threshold_calls = 1024;

feed::threaded_feed::threaded_feed(engine::pool& pool, feed_setup setup, const stream_chunkers& cuts,
                                   std::vector<lane> lanes, run_periods periods, chunk_receiver& receiver)
    : pool_(pool),
      memory_key_(std::move(setup.key)),
      memory_(std::move(setup.memory)),
      ring_(memory_->ring()),
      devices_(memory_->devices),
      intake_(ring_, cuts, std::move(periods), setup.configuration.intake),
      schedule_(setup.configuration, cuts, ring_, pool.loads, receiver),
      lanes_(std::move(lanes)),
      is_alone_(setup.configuration.lane_count == 1 && setup.configuration.devices.empty()),
      standby_(setup.configuration.standby),
      options_(std::move(setup.options)),
      device_warning_(std::move(setup.configuration.device_warning)),
      rule_count_(cuts.size()),
      totals_(lanes_.size()) {
  std::size_t lane_index = setup.configuration.lane_count;
  for (const auto* const list : {&setup.configuration.devices, &setup.configuration.standby}) {
    for (const device_configuration& each : *list) {
      for (std::uint64_t k = 0; k < each.lane_count; ++k) totals_[lane_index++].device = each.device;
    }
  }
  const std::lock_guard lock(pool_.mutex);
  pool_.feeds.push_back(this);
}

feed::threaded_feed::~threaded_feed() {
  {
    std::unique_lock lock(pool_.mutex);
    schedule_.fail({status_code::cancelled, {}});  // nobody reads it, and there may be no memory for a message
    wait_for_running_tasks(lock);
    std::erase(pool_.feeds, this);
    is_dropped_ = true;
  }
  pool_.work.notify_all();
  if (standby_thread_.joinable()) standby_thread_.join();  // it may start the others
  for (std::thread& waiting : device_threads_) waiting.join();
  memory_->leave_bytes();
  if (memory_->is_reusable() && pool_.may_keep()) pool_.keep(std::move(memory_key_), std::move(memory_));
}

void feed::threaded_feed::trace(trace_receiver& receiver) {
  const std::lock_guard lock(pool_.mutex);
  trace_ = feed_trace(receiver, lanes_, totals_);
}

status feed::threaded_feed::start() {
  const signals_blocked quiet;
  std::uint64_t lane_index = pool_.thread_count();
  try {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (std::size_t i = 0; i < devices_[d].size(); ++i, ++lane_index) {
        device_threads_.emplace_back([this, d, i, lane_index] { run_lane(d, i, lane_index); });
      }
    }
  } catch (const std::system_error& error) {
    return {status_code::unavailable, fmt::format("threads that wait for a device cannot be started: {}", error.what()),
            error.code().value()};
  }
  return {};
}

// --- The feeding thread ----------------------------------------------------------------------------------------------

status feed::threaded_feed::begin(std::uint64_t stream, std::size_t rule) {
  stop_reading();
  if (rule >= rule_count_) {
    return {status_code::invalid_argument,
            fmt::format("rule {} is unknown: the feed has {}, counted from 0", rule, rule_count_)};
  }
  intake_.begin(stream, rule);
  is_open_ = true;
  return {};
}

result<std::span<std::uint8_t>> feed::threaded_feed::space() {
  stop_reading();
  std::unique_lock lock(pool_.mutex);
  for (;;) {
    if (!schedule_.failure().ok()) return failed(lock);
    const std::uint64_t room = schedule_.room(intake_.cursor());
    if (room >= preferred_room() || (is_polled_ && room != 0)) return room_of(room);
    publish(lock);
    if (perform_one_task(lock, 0)) continue;
    if (room != 0) return room_of(room);
    schedule_.allow_small_batches();
    if (can_wait_for_progress()) {
      pool_.progress.wait(lock);
    } else if (status relieved = schedule_.make_room(); !relieved.ok()) {
      close(range_end::failed, relieved);
      return relieved;
    }
  }
}

std::uint64_t feed::threaded_feed::room() {
  is_polled_ = true;
  std::unique_lock lock(pool_.mutex);
  if (!schedule_.failure().ok()) return 0;
  if (unpublished_bytes_ != 0) publish(lock);  // else the other threads would have nothing to make room by
  return std::min(schedule_.room(intake_.cursor()), preferred_room());
}

result<byte_span> feed::threaded_feed::read(const shared_range& range) {
  if (is_alone_ || is_polled_ || !ring_.is_mapped()) return byte_span();
  std::unique_lock lock(pool_.mutex);
  const block_read* const first = schedule_.first_read();
  const bool goes_on = first != nullptr && first->from.reader == range.reader && first->from.offset == range.offset;
  if (!goes_on) stop_reading(lock);
  if (!schedule_.failure().ok()) return failed(lock);
  if (schedule_.start_reads(range, intake_.cursor())) pool_.work.notify_all();
  is_reading_ = schedule_.first_read() != nullptr;
  return is_reading_ ? finish_read(lock) : byte_span();
}

result<byte_span> feed::threaded_feed::finish_read(std::unique_lock<std::mutex>& lock) {
  while (!schedule_.first_read()->is_done) {
    if (!schedule_.failure().ok()) return failed(lock);
    if (unpublished_bytes_ != 0) publish(lock);
    if (!perform_one_task(lock, 0)) pool_.progress.wait(lock);
  }
  const block_read block = *schedule_.first_read();
  schedule_.pop_read();
  if (block.read_bytes < block.from.length) stop_reading(lock);
  lock.unlock();
  return intake_.bring(block.position, block.read_bytes);
}

void feed::threaded_feed::stop_reading() noexcept {
  if (!is_reading_) return;
  std::unique_lock lock(pool_.mutex);
  stop_reading(lock);
}

void feed::threaded_feed::stop_reading(std::unique_lock<std::mutex>& lock) noexcept {
  schedule_.drop_waiting_reads();
  // Where memory runs out while a task is taken, no lane has it, and none is taken any more.
  const auto is_over = [this] {
    return schedule_.first_read()->is_done || (!schedule_.failure().ok() && !schedule_.has_running());
  };
  for (; schedule_.first_read() != nullptr; schedule_.pop_read()) pool_.progress.wait(lock, is_over);
  is_reading_ = false;
}

status feed::threaded_feed::commit(std::uint64_t count) {
  CUTPOINT_RETURN_IF_FAILED(check_count(count));
  status outcome;
  measure(intake_meter(), [&] {
    outcome = intake_.commit(count);
    return count;
  });
  return publish_if_due(std::move(outcome), count);
}

status feed::threaded_feed::write_zeros(std::uint64_t count) {
  stop_reading();
  CUTPOINT_RETURN_IF_FAILED(check_count(count));
  const cancellation* const cancel = schedule_.context().cancel;
  while (count != 0) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    CUTPOINT_TRY(const auto counted, count_zeros(count));
    count -= counted;
    if (counted != 0) continue;
    CUTPOINT_TRY(const auto room, space());
    result<std::uint64_t> byte_count = std::uint64_t{0};
    measure(intake_meter(), [&] {
      byte_count = intake_.commit_zeros(count, room.size());
      return byte_count ? *byte_count : 0;
    });
    CUTPOINT_RETURN_IF_FAILED(publish_if_due(byte_count ? status() : byte_count.error(), byte_count ? *byte_count : 0));
    count -= *byte_count;
  }
  return {};
}

result<std::uint64_t> feed::threaded_feed::count_zeros(std::uint64_t count) {
  CUTPOINT_TRY(const auto period, intake_.zeros_to_count(count));
  if (!period) return std::uint64_t{0};
  std::unique_lock lock(pool_.mutex);
  const std::uint64_t counted = intake_.count_zeros(count, schedule_.frontier(), *period);
  if (counted != 0) publish(lock);
  return counted;
}

status feed::threaded_feed::check_count(std::uint64_t count) const {
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() - intake_.taken_bytes();
  if (count <= largest) return {};
  return {status_code::invalid_argument, std::to_string(count) + " bytes cannot be fed: a feed takes 2^64 - 1, and " +
                                             std::to_string(intake_.taken_bytes()) + " were fed before"};
}

status feed::threaded_feed::end(status outcome) {
  stop_reading();
  const range_end how = outcome.ok() ? range_end::stream : range_end::failed;
  if (is_open_) close(how, std::move(outcome));
  return publish_if_due({}, 0);
}

status feed::threaded_feed::finish() {
  std::unique_lock lock(pool_.mutex);
  publish(lock);
  schedule_.finish();
  pool_.work.notify_all();
  for (;;) {
    if (!schedule_.failure().ok()) return failed(lock);
    if (schedule_.is_done()) return {};
    if (perform_one_task(lock, 0)) continue;
    assert(can_wait_for_progress());
    pool_.progress.wait(lock);
  }
}

void feed::threaded_feed::close(range_end how, status outcome) {
  intake_.end(how, std::move(outcome));
  is_open_ = false;
}

status feed::threaded_feed::publish_if_due(status outcome, std::uint64_t count) {
  unpublished_bytes_ += count;
  if (outcome.ok() && unpublished_bytes_ < publish_threshold_bytes && ++unpublished_calls_ < publish_threshold_calls)
    return {};
  std::unique_lock lock(pool_.mutex);
  if (!outcome.ok()) schedule_.fail(std::move(outcome));
  publish(lock);
  while (!is_polled_ && schedule_.needs_help() && perform_one_task(lock, 0)) {
  }
  return schedule_.failure().ok() ? status() : failed(lock);
}

void feed::threaded_feed::publish(const std::unique_lock<std::mutex>&) {
  unpublished_bytes_ = 0;
  unpublished_calls_ = 0;
  intake_update update = intake_.take_update();
  if (schedule_.failure().ok()) schedule_.apply_update(std::move(update));  // else an earlier update may be missing
  record_queue_levels(0);
  consider_standby();
  pool_.work.notify_all();
}

status feed::threaded_feed::failed(std::unique_lock<std::mutex>& lock) {
  wait_for_running_tasks(lock);
  return schedule_.failure();
}

void feed::threaded_feed::wait_for_running_tasks(std::unique_lock<std::mutex>& lock) {
  pool_.progress.wait(lock, [&] { return !schedule_.has_running(); });
}

std::uint64_t feed::threaded_feed::most_room() const { return is_alone_ ? most_room_alone : most_room_shared; }

std::uint64_t feed::threaded_feed::preferred_room() const { return std::min(most_room(), ring_.size() / 8); }

std::span<std::uint8_t> feed::threaded_feed::room_of(std::uint64_t bytes) {
  const std::uint64_t size = std::min(bytes, most_room());
  if (intake_.cursor() != 0) ring_.prepare(intake_.cursor() + size);  // huge pages would not pay for a single read
  return {ring_.at(intake_.cursor()), size};
}

// --- Results ---------------------------------------------------------------------------------------------------------

status feed::threaded_feed::failure() const {
  const std::lock_guard lock(pool_.mutex);
  return schedule_.failure();
}

feed_statistics feed::threaded_feed::statistics() const {
  const std::lock_guard lock(pool_.mutex);
  feed_statistics all = schedule_.statistics();
  all.fed_bytes = intake_.taken_bytes();
  all.lanes = totals_;
  if (devices_.empty()) all.lanes.resize(pool_.thread_count());  // nothing was opened for the others
  all.device_bytes = device_bytes_;
  all.device_warning = device_warning_;
  for (const device_lanes& each : devices_) {
    if (all.device_warning.empty()) all.device_warning = each.warning();
  }
  watch_.publish(all, now());
  all.held_bytes.capacity = all.ring_bytes;
  all.lanes[0].work[static_cast<std::size_t>(stage::intake)] = intake_work_;
  return all;
}

// The public members of a feed, and feeding from a source.

feed::feed(std::unique_ptr<threaded_feed> inside) noexcept : implementation_(std::move(inside)) {}
feed::feed(feed&&) noexcept = default;
feed::~feed() = default;

status feed::begin(std::uint64_t stream, std::size_t rule) {
  return implementation_->guarded([&] { return implementation_->begin(stream, rule); });
}
result<std::span<std::uint8_t>> feed::space() {
  return implementation_->guarded([&] { return implementation_->space(); });
}
std::uint64_t feed::room() { return implementation_->room(); }
status feed::commit(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->commit(count); });
}
status feed::write_zeros(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->write_zeros(count); });
}
status feed::end(status outcome) {
  return implementation_->guarded([&] { return implementation_->end(std::move(outcome)); });
}
result<byte_span> feed::read(const shared_range& range) {
  return implementation_->guarded([&] { return implementation_->read(range); });
}
void feed::stop_reading() noexcept { implementation_->stop_reading(); }
status feed::finish() {
  return implementation_->guarded([&] { return implementation_->finish(); });
}
status feed::failure() const { return implementation_->failure(); }
feed_statistics feed::statistics() const { return implementation_->statistics(); }

status feed::write(byte_span bytes) {
  const memory_reader reader(bytes);
  const reading_stop at_return{this};  // of threads that copy, where a commit is refused
  for (shared_range rest = {.reader = &reader, .length = bytes.size()}; rest.length != 0;) {
    CUTPOINT_TRY(const auto copied, read(rest));
    std::size_t count = copied.size();
    if (count == 0) {
      CUTPOINT_TRY(const auto room, space());
      const byte_span next = bytes.subspan(rest.offset);
      count = std::min(room.size(), next.size());
      if (room.data() != next.data()) std::copy_n(next.begin(), count, room.begin());
    }
    CUTPOINT_RETURN_IF_FAILED(commit(count));
    rest.offset += count;
    rest.length -= count;
  }
  return {};
}

result<bool> feed_next_block(feed& feed, source& source) {
  const auto ended_by = [&feed](const status& failure) -> status {
    return feed.end(failure).ok() ? failure : feed.failure();
  };
  const auto hole = source.skip_hole();
  if (!hole) return ended_by(hole.error());
  if (*hole != 0) {
    CUTPOINT_RETURN_IF_FAILED(feed.write_zeros(*hole));
    return true;
  }
  CUTPOINT_TRY(const auto room, feed.space());
  const auto count = source.read(room);
  if (!count) return ended_by(count.error());
  if (*count == 0) {
    CUTPOINT_RETURN_IF_FAILED(feed.end());
    return false;
  }
  CUTPOINT_RETURN_IF_FAILED(feed.commit(*count));
  return true;
}

status feed_source(feed& feed, std::uint64_t stream, source& source, std::size_t rule) {
  CUTPOINT_RETURN_IF_FAILED(feed.begin(stream, rule));
  for (;;) {
    CUTPOINT_TRY(const auto goes_on, feed_next_block(feed, source));
    if (!goes_on) return {};
  }
}

}  // namespace cutpoint
