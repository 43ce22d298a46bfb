// What lanes take: the order of urgency, and how much of the waiting work.
#include <algorithm>
#include <utility>

#include "pipeline/schedule/schedule.h"

namespace cutpoint {

/// Maps on speculation make fingerprints while less than this share of their bytes is wasted.
constexpr double worthwhile_waste = 0.05;

/// Limits the streams of a device's batch.
constexpr std::uint64_t max_streams_per_device_batch = 65'536;

/// Lanes take no less, because the bytes that are cut twice at the joins would take too much time.
constexpr std::uint64_t least_taken_bytes = 256 * KiB;

bool schedule::may_take() {
  if (context().is_cancelled()) fail(stopped_as_asked());
  return failure_.ok();
}

std::optional<task> schedule::retain_bytes(std::optional<task> next) {
  if (next) retained_positions_.push_back(next->retained_from);
  return next;
}

std::optional<task> schedule::take(lane_role role) {
  if (!may_take()) return std::nullopt;
  // Tasks that other work waits for come first.
  auto next = take_delivery();
  if (!next) next = take_join();
  if (!next && !needs_help()) next = take_read();
  if (!next) next = take_first_map(role);
  if (!next) next = take_chunk_work();
  if (!next) next = take_fingerprints();
  if (!next) next = take_early_join();
  if (!next) next = take_map(role);
  if (!next) next = take_deferred_fingerprints();
  if (!next) next = take_read();
  return retain_bytes(std::move(next));
}

// --- Reads ----------------------------------------------------------------------------------------------------------------

std::optional<task> schedule::take_read() {
  if (taken_reads_ == reads_.size()) return std::nullopt;
  block_read& next = reads_[taken_reads_++];
  return task{.work = read_task{&next}, .retained_from = next.position};
}

// --- Joins -----------------------------------------------------------------------------------------------------------

std::optional<task> schedule::take_join() {
  if (is_joining_ || segments_.empty()) return std::nullopt;
  segment& next = *segments_.front();
  if (next.mapped == segment::state::running || next.early_joined == segment::state::running) return std::nullopt;
  const bool is_passed = frontier_ >= next.end;
  if (!is_passed && (next.mapped != segment::state::done || joinable() < next_join_attempt_)) return std::nullopt;
  if (is_passed && candidates_ && next.mapped != segment::state::done) return std::nullopt;
  is_joining_ = true;
  const std::uint64_t first = recut_chunk_ ? recut_chunk_->where.offset : frontier_;
  join_task work{.target = &next,
                 .frontier = frontier_,
                 .follows_candidates = candidates_ != nullptr,
                 .visible_ranges = sequence_.visible_ranges(first, next.end, joinable()),
                 .recut_chunk = recut_chunk_,
                 .join_request = last_join_request_,
                 .recuts_boundaries = configuration_.join == join_kind::pdedupe,
                 .joined = {}};
  return task{.work = std::move(work), .retained_from = first, .outcome = {}};
}

std::optional<task> schedule::take_early_join() {
  if (candidates_) return std::nullopt;
  // Lanes do not work further ahead. The limit keeps this search short if there are many segments.
  const std::size_t last = std::min<std::size_t>(
      segments_.size(), 2 * (configuration_.lane_count + device_lane_count * configuration_.devices.size()) + 2);
  for (std::size_t i = 1; i < last; ++i) {
    const segment& before = *segments_[i - 1];
    segment& next = *segments_[i];
    const bool is_ready = before.mapped == segment::state::done && next.mapped == segment::state::done &&
                          next.early_joined == segment::state::waiting && !next.begins_at_true_cut;
    if (!is_ready) continue;
    const std::uint64_t start = before.own.next;
    if (start < frontier_ || start >= next.end) continue;
    next.early_joined = segment::state::running;
    next.early_join.next = start;
    early_join_task work{.target = &next,
                         .visible_ranges = sequence_.visible_ranges(start, next.end, sequence_.readable())};
    return task{.work = std::move(work), .retained_from = start, .outcome = {}};
  }
  return std::nullopt;
}

// --- Maps ------------------------------------------------------------------------------------------------------------

bool schedule::first_map_is_due() const noexcept {
  return !segments_.empty() && segments_.front()->mapped == segment::state::waiting && !is_joining_ &&
         frontier_ < segments_.front()->end;
}

std::size_t schedule::next_waiting(std::size_t first) const noexcept {
  while (first < segments_.size() && segments_[first]->mapped != segment::state::waiting) ++first;
  return std::min(first, segments_.size());
}

bool schedule::is_alone() const noexcept { return configuration_.lane_count == 1 && !balance_.has_devices(); }

std::size_t schedule::next_to_speculate() const noexcept {
  return is_alone() || speculation_pause_ > 0 ? segments_.size() : next_waiting(1);
}

std::size_t schedule::next_to_map() const noexcept { return first_map_is_due() ? 0 : next_to_speculate(); }

std::optional<task> schedule::take_first_map(lane_role role) {
  if (candidates_) return next_waiting(0) == 0 ? take_map(role) : std::nullopt;
  return first_map_is_due() ? take_resized_map(role, 0) : std::nullopt;
}

std::optional<task> schedule::take_map(lane_role role) {
  if (!candidates_) return take_resized_map(role, next_to_speculate());
  const std::size_t number = next_waiting(0);
  if (number == segments_.size()) return std::nullopt;
  segment& next = *segments_[number];
  if (!sequence_.has_lookahead(next.end, chunkers_[0].candidate_map()->ahead)) return std::nullopt;
  return make_map_task(next, next.begin, {});
}

/// A map of the segment after it was resized to the lane's share.
std::optional<task> schedule::take_resized_map(lane_role role, std::size_t number) {
  if (number == segments_.size() || !balance_.may_take({}, work_kind::cuts)) return std::nullopt;
  if (balance_.has_devices()) {
    // No bytes are read while the feeding lane works. It takes less, so that the others do not run out of work.
    const std::uint64_t waiting = role == lane_role::feeds ? waiting_map_bytes_ / 2 : waiting_map_bytes_;
    const std::uint64_t share = balance_.bytes_to_take({}, work_kind::cuts, waiting, configuration_.segment_bytes);
    const std::uint64_t least = std::min(least_taken_bytes, configuration_.segment_bytes);
    if (balance_.should_leave_to_faster_lane({}, work_kind::cuts, share, least, waiting_map_bytes_))
      return std::nullopt;
    resize(number, std::max(share, least));
  }
  return make_map_task(*segments_[number], map_start(number), {});
}

std::uint64_t schedule::map_start(std::size_t number) const noexcept {
  return number == 0 ? frontier_ : segments_[number]->begin;
}

void schedule::resize(std::size_t number, std::uint64_t bytes) {
  segment& first = *segments_[number];
  // The new end is behind the known chunks, and the rest is not split off if it is less than half of `bytes`.
  const std::uint64_t wanted = std::max(first.begin, map_start(number)) + bytes;
  if (wanted + bytes / 2 < first.end) {
    segments_.insert(
        segments_.begin() + static_cast<std::ptrdiff_t>(number) + 1,
        std::make_unique<segment>(segment{.begin = wanted, .end = first.end, .stream_count = first.stream_count}));
    first.end = wanted;
    ++waiting_segments_;
    ++statistics_.segment_count;
    return;
  }
  std::size_t last = number + 1;
  for (; last < segments_.size(); ++last) {
    const segment& next = *segments_[last];
    const bool fits = next.mapped == segment::state::waiting && next.end <= wanted &&
                      first.stream_count + next.stream_count <= max_streams_per_device_batch;
    if (!fits) break;
    first.end = next.end;
    first.stream_count += next.stream_count;
  }
  const std::size_t merged = last - number - 1;
  waiting_segments_ -= merged;
  statistics_.segment_count -= merged;
  const auto begin = segments_.begin() + static_cast<std::ptrdiff_t>(number) + 1;
  segments_.erase(begin, begin + static_cast<std::ptrdiff_t>(merged));
}

task schedule::make_map_task(segment& next, std::uint64_t start, lane_owner owner) {
  next.mapped = segment::state::running;
  --waiting_segments_;
  waiting_map_bytes_ -= next.end - next.begin;
  next.begins_at_true_cut = !candidates_ && &next == segments_.front().get();
  next.is_fingerprinted_by_map =
      owner ? configuration_.devices[*owner].fingerprints
            : fingerprints_during_map(next.begins_at_true_cut) && !balance_.defers_fingerprints();
  map_task work{.target = &next,
                .start = start,
                .marks_candidates = candidates_ != nullptr,
                .fingerprints = next.is_fingerprinted_by_map,
                .join_request = last_join_request_,
                .visible_ranges = sequence_.visible_ranges(start, next.end, sequence_.readable())};
  return {
      .work = std::move(work), .retained_from = start, .device = owner, .device_bytes = owner ? next.end - start : 0};
}

bool schedule::fingerprints_during_map(bool begins_at_true_cut) const noexcept {
  if (configuration_.fingerprint == fingerprint_kind::none || candidates_) return false;
  if (is_alone()) return true;
  return speculation_pause_ == 0 && (begins_at_true_cut || wasted_share_ < worthwhile_waste);
}

// --- Fingerprints ----------------------------------------------------------------------------------------------------

std::optional<task> schedule::take_fingerprints() {
  if (balance_.defers_fingerprints()) return std::nullopt;
  return make_fingerprint_task({}, configuration_.fingerprint_task_bytes);
}

/// Devices fingerprint, and a lane of the processor helps them if it finds no other work.
std::optional<task> schedule::take_deferred_fingerprints() {
  if (!balance_.defers_fingerprints() || waiting_fingerprint_bytes_ == 0) return std::nullopt;
  const std::uint64_t bytes = configuration_.fingerprint_task_bytes;
  const bool is_left =
      balance_.should_leave_to_faster_lane({}, work_kind::fingerprints, bytes, bytes, waiting_fingerprint_bytes_);
  return is_left ? std::nullopt : make_fingerprint_task({}, bytes);
}

std::optional<task> schedule::make_fingerprint_task(lane_owner owner, std::uint64_t most_bytes) {
  const std::uint64_t most_chunks = owner ? configuration_.devices[*owner].batch_chunks : unlimited;
  fingerprint_task work;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  for (joined_batch& b : batches_) {
    for (; b.taken_ranges < b.ranges.size(); ++b.taken_ranges) {
      const chunk_range& which = b.ranges[b.taken_ranges];
      const chunk& last = b.chunks[which.last - 1].where;
      if (work.ranges.empty()) begin = b.chunks[which.first].where.offset;
      chunks += which.last - which.first;
      const bool fits = last.offset + last.length - begin <= most_bytes && chunks <= most_chunks;
      if (!work.ranges.empty() && !fits) break;
      work.ranges.push_back({.batch = &b, .which = which});
      bytes += which.bytes;
    }
    if (b.taken_ranges != b.ranges.size()) break;
  }
  if (work.ranges.empty()) return std::nullopt;
  waiting_fingerprint_bytes_ -= bytes;
  return task{.work = std::move(work), .retained_from = begin, .device = owner, .device_bytes = owner ? bytes : 0};
}

// --- Devices ---------------------------------------------------------------------------------------------------------

bool schedule::is_worth_a_batch(const device_configuration& configuration, std::uint64_t bytes) const noexcept {
  return bytes != 0 && (is_finished_ || allows_small_batches_ || bytes >= configuration.least_batch_bytes);
}

std::optional<std::uint64_t> schedule::bytes_for_device(std::size_t device) const noexcept {
  const device_configuration& configuration = configuration_.devices[device];
  const bool maps = configuration.work == work_kind::cuts;
  const std::uint64_t waiting = maps ? waiting_map_bytes_ : waiting_fingerprint_bytes_;
  if (!balance_.may_take(device, configuration.work) || !is_worth_a_batch(configuration, waiting)) return std::nullopt;
  if (maps && next_to_map() == segments_.size()) return std::nullopt;
  const std::uint64_t share = balance_.bytes_to_take(device, configuration.work, waiting, configuration.batch_bytes);
  const std::uint64_t least = std::min(least_taken_bytes, configuration_.segment_bytes);
  if (balance_.should_leave_to_faster_lane(device, configuration.work, share, std::min(least, waiting), waiting)) {
    return std::nullopt;
  }
  return std::max(share, least);
}

bool schedule::has_device_work() const noexcept {
  if (!failure_.ok()) return false;
  for (std::size_t i = 0; i < configuration_.devices.size(); ++i) {
    if (bytes_for_device(i)) return true;
  }
  return false;
}

std::optional<task> schedule::take_for_device(std::size_t device, double now) {
  if (!may_take()) return std::nullopt;
  const auto bytes = bytes_for_device(device);
  if (!bytes || balance_.is_busy(device)) return std::nullopt;
  std::optional<task> next;
  if (configuration_.devices[device].work == work_kind::fingerprints) {
    next = retain_bytes(make_fingerprint_task(device, *bytes));
  } else {
    const std::size_t number = next_to_map();
    resize(number, *bytes);
    next = retain_bytes(make_map_task(*segments_[number], map_start(number), device));
  }
  if (next) balance_.record_device_start(device, next->device_bytes, now);  // last: whoever takes a task hands it back
  return next;
}

}  // namespace cutpoint
