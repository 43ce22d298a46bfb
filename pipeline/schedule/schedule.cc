// The feeding side of a schedule, and its state: segments are sealed, and room becomes free.
#include "pipeline/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// Limits the streams in a segment, so that a million empty files do not wait behind a small one.
constexpr std::uint64_t max_streams_per_segment = 32'768;

std::uint64_t less(std::uint64_t position, std::uint64_t bytes) { return position - std::min(position, bytes); }

bool has_walking(const stream_chunkers& cuts) {
  return std::ranges::any_of(cuts, [](const chunker& each) { return each.candidates() == candidate_kind::walking; });
}

}  // namespace

schedule::schedule(const feed_configuration& chosen, stream_chunkers cuts, const ring& ring, device_loads& loads,
                   chunk_receiver& receiver)
    : configuration_(chosen),
      balance_(chosen, loads),
      chunkers_(std::move(cuts)),
      ring_(&ring),
      receiver_(&receiver),
      kept_memory_(std::make_shared<kept_memory>(chosen.kept_memory_bytes)),
      fill_limit_(chosen.fill_limit),
      wasted_share_(has_walking(chunkers_) ? 1 : 0) {
  statistics_.segment_bytes = configuration_.segment_bytes;
  statistics_.ring_bytes = configuration_.ring_bytes;
  statistics_.chunked_on = configuration_.chunked_on;
  statistics_.fingerprinted_on = configuration_.fingerprinted_on;
  if (configuration_.has_candidates) {
    const std::uint64_t capacity = (configuration_.ring_bytes / segment_granule + 2) * segment_granule;
    candidates_ = std::make_unique<candidate_bits>(capacity, chunkers_[0].candidate_map()->levels);
  }
}

// --- The feeding side ------------------------------------------------------------------------------------------------

void schedule::apply_update(intake_update update) {
  if (!update.events.empty()) request_join();
  allows_small_batches_ = false;
  for (const intake_event& event : update.events) {
    if (event.what == intake_event::kind::run) unsealed_run_bytes_ += event.count * event.period.length;
  }
  sequence_.apply_update(std::move(update));
  while (sequence_.readable() - open_begin_ >= configuration_.segment_bytes + lookahead())
    seal(open_begin_ + configuration_.segment_bytes);
  const bool has_much = sequence_.stream_count() - streams_when_sealed_ > max_streams_per_segment ||
                        unsealed_run_bytes_ >= configuration_.segment_bytes;  // which take hardly any room
  if (has_much) seal_available_bytes();
}

bool schedule::seal_available_bytes() {
  const std::uint64_t ahead = candidates_ ? chunkers_[0].candidate_map()->ahead : 0;
  const std::uint64_t granule = candidates_ ? segment_granule : 1;
  const std::uint64_t sealable = sequence_.last_position_with_lookahead(ahead) / granule * granule;
  if (sealable <= open_begin_) return false;
  seal(sealable);
  return true;
}

void schedule::finish() {
  is_finished_ = true;
  request_join();
  if (sequence_.readable() > open_begin_) seal(sequence_.readable());
  if (segments_.empty() && recut_chunk_) append_batch({*std::exchange(recut_chunk_, std::nullopt)}, frontier_);
}

bool schedule::start_reads(const shared_range& range, std::uint64_t cursor) {
  const std::uint64_t block_bytes = std::min(most_read_by_lane, configuration_.segment_bytes / 4 + 1);
  if (reads_.empty() && range.length < 2 * block_bytes) return false;
  // Where a run before them was shortened, those that were started are moved, and no more are until they are done.
  if (!reads_.empty() && reads_.front().position != cursor) return false;
  const std::size_t before = reads_.size();
  std::uint64_t started = reads_.empty() ? 0 : reads_.back().position + reads_.back().from.length - cursor;
  // While the feeding lane works on a segment, each of the others reads one.
  const std::uint64_t most = std::min(range.length, configuration_.lane_count * configuration_.segment_bytes);
  while (started < most) {
    const std::uint64_t count = std::min(block_bytes, range.length - started);
    if (room(cursor + started) < count) break;
    reads_.push_back({.from = {range.reader, range.offset + started, count}, .position = cursor + started});
    started += count;
  }
  return reads_.size() != before;
}

void schedule::pop_read() {
  reads_.pop_front();
  --taken_reads_;
}

void schedule::drop_waiting_reads() {
  reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(taken_reads_), reads_.end());
}

std::uint64_t schedule::room(std::uint64_t cursor) const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t retained : retained_positions_) needed = std::min(needed, retained);
  const std::uint64_t used_bytes = cursor - less(needed, configuration_.kept_lookbehind_bytes);
  return used_bytes < fill_limit_ ? fill_limit_ - used_bytes : 0;
}

status schedule::make_room() {
  if (seal_available_bytes()) return {};
  if (next_join_attempt_ > joinable() && last_forced_join_ != joinable()) {
    last_forced_join_ = joinable();
    request_join();
    return {};
  }
  if (fill_limit_ < configuration_.ring_bytes) {
    fill_limit_ = std::min(2 * fill_limit_, configuration_.ring_bytes);
    return {};
  }
  return {
      status_code::memory_limit,
      fmt::format("the chunk at offset {} outgrows the memory allowed, {}{}: give a maximum chunk size or more memory",
                  sequence_.offset_in_entry(frontier_), size_with_unit(configuration_.memory_bytes),
                  kept_memory_note(configuration_.memory_bytes, configuration_.kept_memory_bytes))};
}

void schedule::request_join() {
  next_join_attempt_ = 0;
  ++last_join_request_;
}

void schedule::postpone_join(std::uint64_t start) {
  const std::uint64_t visible = joinable() - start;
  const std::uint64_t wanted = chunkers_.reach() != unlimited ? chunkers_.reach() : std::max(visible + 1, 2 * visible);
  next_join_attempt_ = start + wanted;
}

/// Bytes behind a segment that should be readable when it is sealed, so that its map can decide the chunk that begins
/// last in it. Else the join decides it, with the plain loop.
std::uint64_t schedule::lookahead() const noexcept {
  if (candidates_ || configuration_.join != join_kind::exact || !configuration_.devices.empty()) return 0;
  return std::min(chunkers_.reach(), configuration_.segment_bytes / 2);
}

void schedule::seal(std::uint64_t end) {
  segments_.push_back(std::make_unique<segment>(
      segment{.begin = open_begin_, .end = end, .stream_count = sequence_.stream_count() - streams_when_sealed_ + 1}));
  ++waiting_segments_;
  waiting_map_bytes_ += end - open_begin_;
  open_begin_ = end;
  streams_when_sealed_ = sequence_.stream_count();
  unsealed_run_bytes_ = 0;
  ++statistics_.segment_count;
}

void schedule::use_standby(std::vector<device_configuration> devices) {
  balance_.use_standby(devices);
  configuration_.devices = std::move(devices);
  configuration_.standby.clear();
}

// --- State -----------------------------------------------------------------------------------------------------------

task_context schedule::context() const noexcept {
  return {.cuts = &chunkers_,
          .ring = ring_,
          .candidates = candidates_.get(),
          .receiver = receiver_,
          .kept_memory = kept_memory_.get(),
          .cancel = configuration_.cancel,
          .cancel_grace = configuration_.cancel_grace,
          .has_failed = &has_failed_};
}

feed_statistics schedule::statistics() const {
  feed_statistics all = statistics_;
  all.plan = balance_.plan();
  all.predictions = configuration_.predictions;
  if (balance_.devices_cut()) {
    all.chunked_on = all.plan == work_plan::shared ? backend::hybrid : backend::cuda;
    const bool fingerprints_too = std::any_of(configuration_.devices.begin(), configuration_.devices.end(),
                                              [](const device_configuration& d) { return d.fingerprints; });
    if (fingerprints_too) all.fingerprinted_on = all.chunked_on;
  } else if (balance_.defers_fingerprints()) {
    all.fingerprinted_on = backend::hybrid;
  }
  return all;
}

trace_levels schedule::levels() const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t retained : retained_positions_) needed = std::min(needed, retained);
  return {.held_bytes = sequence_.readable() - less(needed, configuration_.kept_lookbehind_bytes),
          .waiting_segments = waiting_segments_,
          .waiting_fingerprint_bytes = waiting_fingerprint_bytes_,
          .waiting_delivery_bytes = batches_.empty() ? 0 : batches_.back().end - delivered_};
}

std::uint64_t schedule::joinable() const noexcept {
  if (!candidates_) return sequence_.readable();
  std::uint64_t end = segments_.empty() ? open_begin_ : segments_.front()->begin;
  for (const auto& s : segments_) {
    if (s->mapped != segment::state::done) break;
    end = s->end;
  }
  return end;
}

bool schedule::is_done() const noexcept {
  return is_finished_ && segments_.empty() && batches_.empty() && sequence_.entries().empty();
}

void schedule::fail(status why) {
  if (failure_.ok()) failure_ = std::move(why);
  has_failed_ = true;
}

}  // namespace cutpoint
