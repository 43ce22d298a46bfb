// The schedule of one feed: what is fed, what lanes take, what follows when it is done.
#include "pipeline/schedule/schedule.h"

#include <algorithm>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// Streams in a segment: a million empty files must not pile up behind a small one.
constexpr std::uint64_t most_parts = 32'768;

constexpr std::uint64_t shortest_rest = 4;
constexpr std::uint64_t longest_rest = 64;

std::uint64_t less(std::uint64_t position, std::uint64_t bytes) { return position - std::min(position, bytes); }

}  // namespace

schedule::schedule(const feed_plan& chosen, const chunker& cuts, const ring& held, chunk_receiver& receiver)
    : plan_(chosen),
      balance_(chosen),
      chunker_(cuts),
      ring_(&held),
      receiver_(&receiver),
      fill_limit_(chosen.fill_limit),
      wasted_share_(cuts.candidates() == candidate_kind::walking ? 1 : 0) {
  statistics_.segment_bytes = plan_.segment_bytes;
  statistics_.ring_bytes = held.size();
  statistics_.chunked_on = plan_.chunked_on;
  statistics_.fingerprinted_on = plan_.fingerprinted_on;
  if (plan_.has_candidates) {
    const std::uint64_t capacity = (held.size() / segment_granule + 2) * segment_granule;
    candidates_ = std::make_unique<candidate_bits>(capacity, cuts.candidate_map()->levels);
  }
}

// --- The feeding side ------------------------------------------------------------------------------------------------

void schedule::learn(intake_news news) {
  if (!news.events.empty()) invite_join();
  is_pressed_ = false;
  for (const intake_event& event : news.events) {
    if (event.what == intake_event::kind::run) unsealed_run_bytes_ += event.count * event.period.length;
  }
  sequence_.learn(std::move(news));
  while (sequence_.readable() - open_begin_ >= plan_.segment_bytes) seal(open_begin_ + plan_.segment_bytes);
  const bool has_much = sequence_.part_count() - parts_when_sealed_ > most_parts ||
                        unsealed_run_bytes_ >= plan_.segment_bytes;  // which take hardly any room
  if (has_much) seal_what_is_there();
}

bool schedule::seal_what_is_there() {
  const std::uint64_t ahead = candidates_ ? chunker_.candidate_map()->ahead : 0;
  const std::uint64_t granule = candidates_ ? segment_granule : 1;
  const std::uint64_t sealable = sequence_.seen_with(ahead) / granule * granule;
  if (sealable <= open_begin_) return false;
  seal(sealable);
  return true;
}

void schedule::finish() {
  is_finished_ = true;
  invite_join();
  if (sequence_.readable() > open_begin_) seal(sequence_.readable());
  if (segments_.empty() && held_) push_batch({*std::exchange(held_, std::nullopt)}, frontier_);
}

std::uint64_t schedule::room(std::uint64_t cursor) const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t pin : pins_) needed = std::min(needed, pin);
  const std::uint64_t held = cursor - less(needed, plan_.kept_behind);
  return held < fill_limit_ ? fill_limit_ - held : 0;
}

status schedule::relieve() {
  if (seal_what_is_there()) return {};
  if (join_wants_ > joinable() && relieved_at_ != joinable()) {
    relieved_at_ = joinable();
    invite_join();
    return {};
  }
  if (fill_limit_ < ring_->size()) {
    fill_limit_ = std::min(2 * fill_limit_, ring_->size());
    return {};
  }
  return {
      status_code::memory_limit,
      fmt::format("the chunk at offset {} outgrows the memory allowed, {}: give a maximum chunk size or more memory",
                  sequence_.offset_in_part(frontier_), format_size(plan_.memory_bytes))};
}

/// Something was learnt with which another try at the join may get further.
void schedule::invite_join() {
  join_wants_ = 0;
  ++join_invitation_;
}

/// The cut of the chunk that begins at `start` was not decided by what was seen: it is not tried again before it is sure
/// to be, or, without a maximum, before as much again is seen, so that a long chunk is not looked at too often.
void schedule::await_cut_at(std::uint64_t start) {
  const std::uint64_t visible = joinable() - start;
  const std::uint64_t wanted = chunker_.reach() != unlimited ? chunker_.reach() : std::max(visible + 1, 2 * visible);
  join_wants_ = start + wanted;
}

void schedule::seal(std::uint64_t end) {
  segments_.push_back(std::make_unique<segment>(
      segment{.begin = open_begin_, .end = end, .part_count = sequence_.part_count() - parts_when_sealed_ + 1}));
  ++waiting_segments_;
  waiting_map_bytes_ += end - open_begin_;
  open_begin_ = end;
  parts_when_sealed_ = sequence_.part_count();
  unsealed_run_bytes_ = 0;
  ++statistics_.segment_count;
}

// --- What may be taken -----------------------------------------------------------------------------------------------

bool schedule::may_take() {
  if (plan_.cancel != nullptr && plan_.cancel->is_requested()) fail({status_code::cancelled, "stopped as asked"});
  return failure_.ok();
}

std::optional<task> schedule::pinned(std::optional<task> taken) {
  if (taken) pins_.push_back(taken->pinned_from);
  return taken;
}

std::optional<task> schedule::take(lane_role by) {
  if (!may_take()) return std::nullopt;
  // First what others wait for: the next in order to come out, to be joined, to be mapped.
  auto taken = take_delivery();
  if (!taken) taken = take_join();
  if (!taken) taken = take_first_map(by);
  if (!taken) taken = take_fingerprints();
  if (!taken) taken = take_bridge();
  if (!taken) taken = take_map(by);
  if (!taken) taken = take_left_fingerprints();
  return pinned(std::move(taken));
}

task_surroundings schedule::surroundings() const noexcept {
  return {.cuts = &chunker_, .held = ring_, .candidates = candidates_.get(), .receiver = receiver_};
}

feed_statistics schedule::statistics() const {
  feed_statistics all = statistics_;
  all.plan = balance_.plan();
  all.predictions = balance_.predictions();
  const work_split& split = balance_.split();
  const bool fingerprints_too =
      std::any_of(plan_.devices.begin(), plan_.devices.end(), [](const device_part& d) { return d.fingerprints; });
  if (split.devices_cut) {
    all.chunked_on = split.processor_cuts ? backend::hybrid : backend::cuda;
    if (fingerprints_too) all.fingerprinted_on = all.chunked_on;
  } else if (split.devices_fingerprint) {
    all.fingerprinted_on = backend::cuda;
  }
  return all;
}

trace_levels schedule::levels() const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t pin : pins_) needed = std::min(needed, pin);
  return {.held_bytes = sequence_.readable() - less(needed, plan_.kept_behind),
          .waiting_segments = waiting_segments_,
          .waiting_fingerprint_bytes = waiting_fingerprint_bytes_,
          .waiting_delivery_bytes = batches_.empty() ? 0 : batches_.back().end - delivered_};
}

bool schedule::is_done() const noexcept {
  return is_finished_ && segments_.empty() && batches_.empty() && sequence_.parts().empty();
}

void schedule::fail(status why) {
  if (failure_.ok()) failure_ = std::move(why);
}

std::optional<task> schedule::take_delivery() {
  if (is_delivering_) return std::nullopt;
  const std::deque<stream_part>& parts = sequence_.parts();
  if (batches_.empty()) {
    // Streams that ended without another chunk.
    const bool has_ended =
        !is_joining_ && !parts.empty() && parts.front().how != stretch_end::open && parts.front().end <= delivered_;
    if (!has_ended) return std::nullopt;
    push_batch({}, delivered_);
  }
  batch& next = batches_.front();
  if (next.done_units < next.units.size()) return std::nullopt;
  is_delivering_ = true;
  deliver_task work{.of = &next, .state = delivery_};
  work.runs = std::move(runs_to_come_);
  for (taken_run& run : sequence_.take_runs(next.end)) work.runs.push_back(std::move(run));
  work.parts = sequence_.take_parts(next.end);
  return task{.work = std::move(work), .pinned_from = delivered_, .outcome = {}};
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
  if (next.mapped == segment::state::running || next.bridged == segment::state::running) return std::nullopt;
  const bool is_passed = frontier_ >= next.end;
  if (!is_passed && (next.mapped != segment::state::done || joinable() < join_wants_)) return std::nullopt;
  if (is_passed && candidates_ && next.mapped != segment::state::done) return std::nullopt;
  is_joining_ = true;
  const std::uint64_t first = held_ ? held_->where.offset : frontier_;
  join_task work{.of = &next,
                 .frontier = frontier_,
                 .follows_candidates = candidates_ != nullptr,
                 .stretches = sequence_.stretches(first, next.end, joinable()),
                 .held = held_,
                 .invitation = join_invitation_,
                 .cuts_again = plan_.join == join_kind::pdedupe,
                 .joined = {}};
  return task{.work = std::move(work), .pinned_from = first, .outcome = {}};
}

std::optional<task> schedule::take_bridge() {
  if (candidates_) return std::nullopt;
  // No further ahead than lanes are, so that a look is short however many segments there are.
  const std::size_t last =
      std::min<std::size_t>(segments_.size(), 2 * (plan_.lane_count + device_lane_count * plan_.devices.size()) + 2);
  for (std::size_t i = 1; i < last; ++i) {
    const segment& before = *segments_[i - 1];
    segment& into = *segments_[i];
    const bool is_ready = before.mapped == segment::state::done && into.mapped == segment::state::done &&
                          into.bridged == segment::state::waiting && !into.is_anchored;
    if (!is_ready) continue;
    const std::uint64_t start = before.own.next;
    if (start < frontier_ || start >= into.end) continue;
    into.bridged = segment::state::running;
    into.bridge.next = start;
    bridge_task work{.into = &into, .stretches = sequence_.stretches(start, into.end, sequence_.readable())};
    return task{.work = std::move(work), .pinned_from = start, .outcome = {}};
  }
  return std::nullopt;
}

// --- What follows ----------------------------------------------------------------------------------------------------

void schedule::complete(task done, const std::array<stage_work, stage_count>& spent, double now) {
  pins_.erase(std::find(pins_.begin(), pins_.end(), done.pinned_from));
  if (done.device) {
    const bool is_map = std::holds_alternative<map_task>(done.work);
    const shared_work what = is_map ? shared_work::cuts : shared_work::fingerprints;
    balance_.device_did(*done.device, what, done.device_bytes, now);
  } else {
    balance_.processor_did(spent);
  }
  balance_.revise(now);
  if (!done.outcome.ok()) fail(std::move(done.outcome));
  std::visit([this](auto& work) { complete(work); }, done.work);
}

void schedule::complete(map_task& work) {
  segment& of = *work.of;
  of.mapped = segment::state::done;
  if (of.is_anchored && of.own.next < of.end && work.invitation == join_invitation_) await_cut_at(of.own.next);
  if (work.marks_candidates) invite_join();
  if (!work.marks_candidates && !of.is_anchored) ++statistics_.speculated_count;
}

void schedule::complete(bridge_task& work) { work.into->bridged = segment::state::done; }

void schedule::complete(join_task& work) {
  is_joining_ = false;
  const std::uint64_t progress = work.frontier - frontier_;
  frontier_ = work.frontier;
  held_ = work.held;
  statistics_.twice_cut_bytes += work.again_bytes;
  statistics_.twice_hashed_bytes += work.again_fingerprinted_bytes;
  if (frontier_ >= work.of->end) {
    drop_front_segment();
    join_wants_ = 0;
  } else if (work.invitation == join_invitation_) {
    await_cut_at(frontier_);
  }
  const bool is_all = is_finished_ && segments_.empty();
  if (is_all && held_) work.joined.push_back(*std::exchange(held_, std::nullopt));
  if (progress != 0 || !work.joined.empty()) {
    push_batch(std::move(work.joined), held_ ? held_->where.offset : frontier_);
  }
}

void schedule::complete(fingerprint_task& work) {
  for (const fingerprint_task::share& each : work.shares) ++each.of->done_units;
}

void schedule::complete(deliver_task& work) {
  is_delivering_ = false;
  delivered_ = work.of->end;
  delivery_ = work.state;
  for (std::size_t i = 0; i < work.passed_runs; ++i) {
    statistics_.run_bytes += work.runs[i].count * work.runs[i].period.length;
  }
  work.runs.erase(work.runs.begin(), work.runs.begin() + static_cast<std::ptrdiff_t>(work.passed_runs));
  runs_to_come_ = std::move(work.runs);
  batches_.pop_front();
}

void schedule::push_batch(std::vector<joined_chunk> chunks, std::uint64_t end) {
  batch made{.chunks = std::move(chunks), .units = {}, .end = end};
  if (plan_.fingerprint != fingerprint_kind::none) {
    std::uint64_t bytes = plan_.unit_bytes;
    for (std::size_t i = 0; i < made.chunks.size(); ++i) {
      if (made.chunks[i].is_fingerprinted) continue;
      if (bytes >= plan_.unit_bytes) {
        made.units.push_back({.first = i, .last = i});
        bytes = 0;
      }
      made.units.back().last = i + 1;
      made.units.back().bytes += made.chunks[i].where.length;
      waiting_fingerprint_bytes_ += made.chunks[i].where.length;
      bytes += made.chunks[i].where.length;
    }
  }
  batches_.push_back(std::move(made));
}

void schedule::drop_front_segment() {
  const segment& joined = *segments_.front();
  const std::uint64_t own_wasted = joined.own.bytes() - joined.own_used_bytes;
  statistics_.twice_cut_bytes += own_wasted + joined.bridge.bytes() - joined.bridge_used_bytes;
  if (joined.is_fused) statistics_.twice_hashed_bytes += own_wasted;
  if (joined.mapped == segment::state::done && !candidates_) judge_speculation(joined);
  if (joined.mapped == segment::state::waiting) {
    --waiting_segments_;
    waiting_map_bytes_ -= joined.end - joined.begin;
  }
  segments_.pop_front();
}

void schedule::judge_speculation(const segment& joined) {
  if (joined.is_anchored) {
    rests_ -= std::min<std::uint64_t>(rests_, 1);
    return;
  }
  const auto own_bytes = static_cast<double>(joined.own.bytes());
  if (own_bytes == 0) return;
  const double wasted = (own_bytes - static_cast<double>(joined.own_used_bytes)) / own_bytes;
  wasted_share_ += (wasted - wasted_share_) / 8;
  if (joined.own_used_bytes != 0) {
    misses_in_a_row_ = 0;
    last_rest_ = 0;
    return;
  }
  ++statistics_.missed_count;
  if (++misses_in_a_row_ < 2) return;
  last_rest_ = std::clamp(2 * last_rest_, shortest_rest, longest_rest);
  rests_ = last_rest_;
}

}  // namespace cutpoint
