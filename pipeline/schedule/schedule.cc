// The schedule of one feed: what is fed, what lanes take, what follows when it is done.
#include "pipeline/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// Streams in a segment: a million empty files must not pile up behind a small one.
constexpr std::uint64_t max_streams_per_segment = 32'768;

constexpr std::uint64_t shortest_speculation_pause = 4;
constexpr std::uint64_t longest_speculation_pause = 64;

std::uint64_t less(std::uint64_t position, std::uint64_t bytes) { return position - std::min(position, bytes); }

}  // namespace

schedule::schedule(const feed_configuration& chosen, const chunker& cuts, const ring& held, chunk_receiver& receiver)
    : configuration_(chosen),
      balance_(chosen),
      chunker_(cuts),
      ring_(&held),
      receiver_(&receiver),
      fill_limit_(chosen.fill_limit),
      wasted_share_(cuts.candidates() == candidate_kind::walking ? 1 : 0) {
  statistics_.segment_bytes = configuration_.segment_bytes;
  statistics_.ring_bytes = held.size();
  statistics_.chunked_on = configuration_.chunked_on;
  statistics_.fingerprinted_on = configuration_.fingerprinted_on;
  if (configuration_.has_candidates) {
    const std::uint64_t capacity = (held.size() / segment_granule + 2) * segment_granule;
    candidates_ = std::make_unique<candidate_bits>(capacity, cuts.candidate_map()->levels);
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
  while (sequence_.readable() - open_begin_ >= configuration_.segment_bytes)
    seal(open_begin_ + configuration_.segment_bytes);
  const bool has_much = sequence_.stream_count() - streams_when_sealed_ > max_streams_per_segment ||
                        unsealed_run_bytes_ >= configuration_.segment_bytes;  // which take hardly any room
  if (has_much) seal_available_bytes();
}

bool schedule::seal_available_bytes() {
  const std::uint64_t ahead = candidates_ ? chunker_.candidate_map()->ahead : 0;
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
  if (segments_.empty() && held_) append_batch({*std::exchange(held_, std::nullopt)}, frontier_);
}

std::uint64_t schedule::room(std::uint64_t cursor) const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t retained : retained_positions_) needed = std::min(needed, retained);
  const std::uint64_t held = cursor - less(needed, configuration_.kept_lookbehind_bytes);
  return held < fill_limit_ ? fill_limit_ - held : 0;
}

status schedule::make_room() {
  if (seal_available_bytes()) return {};
  if (next_join_attempt_ > joinable() && last_forced_join_ != joinable()) {
    last_forced_join_ = joinable();
    request_join();
    return {};
  }
  if (fill_limit_ < ring_->size()) {
    fill_limit_ = std::min(2 * fill_limit_, ring_->size());
    return {};
  }
  return {
      status_code::memory_limit,
      fmt::format("the chunk at offset {} outgrows the memory allowed, {}: give a maximum chunk size or more memory",
                  sequence_.offset_in_entry(frontier_), format_size(configuration_.memory_bytes))};
}

/// Something was learnt with which another try at the join may get further.
void schedule::request_join() {
  next_join_attempt_ = 0;
  ++last_join_request_;
}

/// The cut of the chunk that begins at `start` was not decided by what was seen: it is not tried again before it is sure
/// to be, or, without a maximum, before as much again is seen, so that a long chunk is not looked at too often.
void schedule::postpone_join(std::uint64_t start) {
  const std::uint64_t visible = joinable() - start;
  const std::uint64_t wanted = chunker_.reach() != unlimited ? chunker_.reach() : std::max(visible + 1, 2 * visible);
  next_join_attempt_ = start + wanted;
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

// --- What may be taken -----------------------------------------------------------------------------------------------

bool schedule::may_take() {
  if (context().is_cancelled()) fail(stopped_as_asked());
  return failure_.ok();
}

std::optional<task> schedule::retain_bytes(std::optional<task> taken) {
  if (taken) retained_positions_.push_back(taken->retained_from);
  return taken;
}

std::optional<task> schedule::take(lane_role role) {
  if (!may_take()) return std::nullopt;
  // First what others wait for: the next in order to come out, to be joined, to be mapped.
  auto taken = take_delivery();
  if (!taken) taken = take_join();
  if (!taken) taken = take_first_map(role);
  if (!taken) taken = take_fingerprints();
  if (!taken) taken = take_early_join();
  if (!taken) taken = take_map(role);
  if (!taken) taken = take_deferred_fingerprints();
  return retain_bytes(std::move(taken));
}

task_context schedule::context() const noexcept {
  return {.cuts = &chunker_,
          .held = ring_,
          .candidates = candidates_.get(),
          .receiver = receiver_,
          .cancel = configuration_.cancel,
          .cancel_grace = configuration_.cancel_grace};
}

feed_statistics schedule::statistics() const {
  feed_statistics all = statistics_;
  all.plan = balance_.plan();
  all.predictions = balance_.predictions();
  const work_assignment& assignment = balance_.assignment();
  const bool fingerprints_too = std::any_of(configuration_.devices.begin(), configuration_.devices.end(),
                                            [](const device_configuration& d) { return d.fingerprints; });
  if (assignment.devices_cut) {
    all.chunked_on = assignment.processor_cuts ? backend::hybrid : backend::cuda;
    if (fingerprints_too) all.fingerprinted_on = all.chunked_on;
  } else if (assignment.devices_fingerprint) {
    all.fingerprinted_on = backend::cuda;
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

bool schedule::is_done() const noexcept {
  return is_finished_ && segments_.empty() && batches_.empty() && sequence_.entries().empty();
}

void schedule::fail(status why) {
  if (failure_.ok()) failure_ = std::move(why);
}

std::optional<task> schedule::take_delivery() {
  if (is_delivering_) return std::nullopt;
  const std::deque<stream_entry>& entries = sequence_.entries();
  if (batches_.empty()) {
    // Streams that ended without another chunk.
    const bool has_ended =
        !is_joining_ && !entries.empty() && entries.front().how != range_end::open && entries.front().end <= delivered_;
    if (!has_ended) return std::nullopt;
    append_batch({}, delivered_);
  }
  joined_batch& next = batches_.front();
  if (next.done_ranges < next.ranges.size()) return std::nullopt;
  is_delivering_ = true;
  deliver_task work{.batch = &next, .state = delivery_};
  work.runs = std::move(pending_runs_);
  for (removed_run& run : sequence_.take_runs(next.end)) work.runs.push_back(std::move(run));
  work.entries = sequence_.take_entries(next.end);
  return task{.work = std::move(work), .retained_from = delivered_, .outcome = {}};
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

std::optional<task> schedule::take_join() {
  if (is_joining_ || segments_.empty()) return std::nullopt;
  segment& next = *segments_.front();
  if (next.mapped == segment::state::running || next.early_joined == segment::state::running) return std::nullopt;
  const bool is_passed = frontier_ >= next.end;
  if (!is_passed && (next.mapped != segment::state::done || joinable() < next_join_attempt_)) return std::nullopt;
  if (is_passed && candidates_ && next.mapped != segment::state::done) return std::nullopt;
  is_joining_ = true;
  const std::uint64_t first = held_ ? held_->where.offset : frontier_;
  join_task work{.target = &next,
                 .frontier = frontier_,
                 .follows_candidates = candidates_ != nullptr,
                 .visible_ranges = sequence_.visible_ranges(first, next.end, joinable()),
                 .held = held_,
                 .join_request = last_join_request_,
                 .recuts_boundaries = configuration_.join == join_kind::pdedupe,
                 .joined = {}};
  return task{.work = std::move(work), .retained_from = first, .outcome = {}};
}

std::optional<task> schedule::take_early_join() {
  if (candidates_) return std::nullopt;
  // No further ahead than lanes are, so that a look is short however many segments there are.
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

// --- What follows ----------------------------------------------------------------------------------------------------

void schedule::complete(task done, const std::array<stage_work, stage_count>& spent, double now) {
  retained_positions_.erase(std::find(retained_positions_.begin(), retained_positions_.end(), done.retained_from));
  if (done.device) {
    const bool is_map = std::holds_alternative<map_task>(done.work);
    const work_kind what = is_map ? work_kind::cuts : work_kind::fingerprints;
    balance_.record_device_work(*done.device, what, done.device_bytes, now);
  } else {
    balance_.record_processor_work(spent);
  }
  balance_.revise(now);
  if (!done.outcome.ok()) fail(std::move(done.outcome));
  std::visit([this](auto& work) { complete(work); }, done.work);
}

void schedule::complete(map_task& work) {
  segment& target = *work.target;
  target.mapped = segment::state::done;
  if (target.begins_at_true_cut && target.own.next < target.end && work.join_request == last_join_request_)
    postpone_join(target.own.next);
  if (work.marks_candidates) request_join();
  if (!work.marks_candidates && !target.begins_at_true_cut) ++statistics_.speculated_count;
}

void schedule::complete(early_join_task& work) { work.target->early_joined = segment::state::done; }

void schedule::complete(join_task& work) {
  is_joining_ = false;
  const std::uint64_t progress = work.frontier - frontier_;
  frontier_ = work.frontier;
  held_ = work.held;
  statistics_.twice_cut_bytes += work.recut_bytes;
  statistics_.twice_hashed_bytes += work.recut_fingerprinted_bytes;
  if (frontier_ >= work.target->end) {
    drop_front_segment();
    next_join_attempt_ = 0;
  } else if (work.join_request == last_join_request_) {
    postpone_join(frontier_);
  }
  const bool is_all = is_finished_ && segments_.empty();
  if (is_all && held_) work.joined.push_back(*std::exchange(held_, std::nullopt));
  if (progress != 0 || !work.joined.empty()) {
    append_batch(std::move(work.joined), held_ ? held_->where.offset : frontier_);
  }
}

void schedule::complete(fingerprint_task& work) {
  for (const fingerprint_task::batch_range& each : work.ranges) ++each.batch->done_ranges;
}

void schedule::complete(deliver_task& work) {
  is_delivering_ = false;
  delivered_ = work.batch->end;
  delivery_ = work.state;
  for (std::size_t i = 0; i < work.delivered_runs; ++i) {
    statistics_.run_bytes += work.runs[i].count * work.runs[i].period.length;
  }
  work.runs.erase(work.runs.begin(), work.runs.begin() + static_cast<std::ptrdiff_t>(work.delivered_runs));
  pending_runs_ = std::move(work.runs);
  batches_.pop_front();
}

void schedule::append_batch(std::vector<joined_chunk> chunks, std::uint64_t end) {
  joined_batch made{.chunks = std::move(chunks), .ranges = {}, .end = end};
  if (configuration_.fingerprint != fingerprint_kind::none) {
    std::uint64_t bytes = configuration_.fingerprint_task_bytes;
    for (std::size_t i = 0; i < made.chunks.size(); ++i) {
      if (made.chunks[i].is_fingerprinted) continue;
      if (bytes >= configuration_.fingerprint_task_bytes) {
        made.ranges.push_back({.first = i, .last = i});
        bytes = 0;
      }
      made.ranges.back().last = i + 1;
      made.ranges.back().bytes += made.chunks[i].where.length;
      waiting_fingerprint_bytes_ += made.chunks[i].where.length;
      bytes += made.chunks[i].where.length;
    }
  }
  batches_.push_back(std::move(made));
}

void schedule::drop_front_segment() {
  const segment& joined = *segments_.front();
  const std::uint64_t own_wasted = joined.own.bytes() - joined.own_used_bytes;
  statistics_.twice_cut_bytes += own_wasted + joined.early_join.bytes() - joined.early_used_bytes;
  if (joined.is_fingerprinted_by_map) statistics_.twice_hashed_bytes += own_wasted;
  if (joined.mapped == segment::state::done && !candidates_) update_speculation(joined);
  if (joined.mapped == segment::state::waiting) {
    --waiting_segments_;
    waiting_map_bytes_ -= joined.end - joined.begin;
  }
  segments_.pop_front();
}

void schedule::update_speculation(const segment& joined) {
  if (joined.begins_at_true_cut) {
    speculation_pause_ -= std::min<std::uint64_t>(speculation_pause_, 1);
    return;
  }
  const auto own_bytes = static_cast<double>(joined.own.bytes());
  if (own_bytes == 0) return;
  const double wasted = (own_bytes - static_cast<double>(joined.own_used_bytes)) / own_bytes;
  wasted_share_ += (wasted - wasted_share_) / 8;
  if (joined.own_used_bytes != 0) {
    misses_in_a_row_ = 0;
    last_speculation_pause_ = 0;
    return;
  }
  ++statistics_.missed_count;
  if (++misses_in_a_row_ < 2) return;
  last_speculation_pause_ =
      std::clamp(2 * last_speculation_pause_, shortest_speculation_pause, longest_speculation_pause);
  speculation_pause_ = last_speculation_pause_;
}

}  // namespace cutpoint
