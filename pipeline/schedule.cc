// The plan of one feed.
#include "pipeline/schedule.h"

#include <algorithm>
#include <array>
#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

/// Fingerprints made on speculation are worth it while less than this share of the chunks turns out wrong.
constexpr double worthwhile_waste = 0.05;

/// Streams in a segment: a million empty files must not pile up behind a small one.
constexpr std::uint64_t most_parts = 32'768;

constexpr std::uint64_t shortest_rest = 4;
constexpr std::uint64_t longest_rest = 64;

std::uint64_t less(std::uint64_t position, std::uint64_t bytes) { return position - std::min(position, bytes); }

}  // namespace

schedule::schedule(const feed_plan& chosen, const chunker& cuts, const ring& held, chunk_receiver& receiver)
    : plan_(chosen),
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
  const std::uint64_t sealable = less(sequence_.readable(), ahead) / granule * granule;
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
  segments_.push_back({.begin = open_begin_, .end = end});
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

std::optional<task> schedule::take() {
  if (!may_take()) return std::nullopt;
  // First what others wait for: the next in order to come out, to be joined, to be mapped.
  using choice = std::optional<task> (schedule::*)();
  constexpr std::array<choice, 6> choices = {&schedule::take_delivery,  &schedule::take_join,
                                             &schedule::take_first_map, &schedule::take_fingerprints,
                                             &schedule::take_bridge,    &schedule::take_map};
  for (const choice each : choices) {
    const bool maps = each == &schedule::take_first_map || each == &schedule::take_map;
    if (maps && plan_.maps_on_device) continue;
    if (auto taken = (this->*each)()) return pinned(std::move(taken));
  }
  return std::nullopt;
}

std::optional<task> schedule::take_for_device() {
  if (!plan_.maps_on_device || !may_take()) return std::nullopt;
  auto taken = take_first_map();
  return pinned(taken ? std::move(taken) : take_map());
}

bool schedule::has_device_work() const noexcept {
  return plan_.maps_on_device && failure_.ok() && (first_map_is_due() || next_to_speculate() != segments_.size());
}

void schedule::lose_device() noexcept { plan_.maps_on_device = false; }

task_surroundings schedule::surroundings() const noexcept {
  return {.cuts = &chunker_, .held = ring_, .candidates = candidates_.get(), .receiver = receiver_};
}

std::uint64_t schedule::waiting_segments() const noexcept {
  return static_cast<std::uint64_t>(std::count_if(
      segments_.begin(), segments_.end(), [](const segment& s) { return s.mapped == segment::state::waiting; }));
}

trace_levels schedule::levels() const noexcept {
  std::uint64_t needed = delivered_;
  for (const std::uint64_t pin : pins_) needed = std::min(needed, pin);
  trace_levels now{.held_bytes = sequence_.readable() - less(needed, plan_.kept_behind),
                   .waiting_segments = waiting_segments()};
  for (const batch& b : batches_) {
    if (b.taken_units == b.units.size()) continue;
    now.waiting_fingerprint_bytes += b.end - b.chunks[b.units[b.taken_units].first].where.offset;
  }
  if (!batches_.empty()) now.waiting_delivery_bytes = batches_.back().end - delivered_;
  return now;
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
  std::uint64_t end = segments_.empty() ? open_begin_ : segments_.front().begin;
  for (const segment& s : segments_) {
    if (s.mapped != segment::state::done) break;
    end = s.end;
  }
  return end;
}

std::optional<task> schedule::take_join() {
  if (is_joining_ || segments_.empty()) return std::nullopt;
  segment& next = segments_.front();
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

std::optional<task> schedule::take_fingerprints() {
  for (batch& b : batches_) {
    if (b.taken_units == b.units.size()) continue;
    const batch::unit which = b.units[b.taken_units++];
    return task{.work = fingerprint_task{.of = &b, .which = which},
                .pinned_from = b.chunks[which.first].where.offset,
                .outcome = {}};
  }
  return std::nullopt;
}

std::optional<task> schedule::take_bridge() {
  if (candidates_) return std::nullopt;
  // No further ahead than lanes are, so that a look is short however many segments there are.
  const std::size_t last = std::min<std::size_t>(segments_.size(), 2 * plan_.lane_count + 2);
  for (std::size_t i = 1; i < last; ++i) {
    const segment& before = segments_[i - 1];
    segment& into = segments_[i];
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

bool schedule::first_map_is_due() const noexcept {
  return !segments_.empty() && segments_.front().mapped == segment::state::waiting && !is_joining_ &&
         frontier_ < segments_.front().end;
}

std::size_t schedule::next_to_map(std::size_t first) const noexcept {
  while (first < segments_.size() && segments_[first].mapped != segment::state::waiting) ++first;
  return std::min(first, segments_.size());
}

std::size_t schedule::next_to_speculate() const noexcept {
  return plan_.lane_count == 1 || rests_ > 0 ? segments_.size() : next_to_map(1);
}

std::optional<task> schedule::take_first_map() {
  if (candidates_) return next_to_map(0) == 0 ? take_map() : std::nullopt;
  return first_map_is_due() ? std::optional(map_of(segments_.front(), frontier_)) : std::nullopt;
}

std::optional<task> schedule::take_map() {
  const std::size_t number = candidates_ ? next_to_map(0) : next_to_speculate();
  if (number == segments_.size()) return std::nullopt;
  segment& next = segments_[number];
  if (candidates_ && !sequence_.is_seen_past(next.end, chunker_.candidate_map()->ahead)) return std::nullopt;
  return map_of(next, next.begin);
}

task schedule::map_of(segment& next, std::uint64_t start) {
  next.mapped = segment::state::running;
  next.is_anchored = !candidates_ && &next == &segments_.front();
  next.is_fused = plan_.maps_on_device ? plan_.fingerprints_on_device : fuses(next.is_anchored);
  map_task work{.of = &next,
                .start = start,
                .marks_candidates = candidates_ != nullptr,
                .fingerprints = next.is_fused,
                .invitation = join_invitation_,
                .stretches = sequence_.stretches(start, next.end, sequence_.readable())};
  return {.work = std::move(work), .pinned_from = start, .outcome = {}};
}

bool schedule::fuses(bool is_anchored) const noexcept {
  if (plan_.fingerprint == fingerprint_kind::none || candidates_) return false;
  if (plan_.lane_count == 1) return true;
  return rests_ == 0 && (is_anchored || wasted_share_ < worthwhile_waste);
}

// --- What follows ----------------------------------------------------------------------------------------------------

void schedule::complete(task done) {
  pins_.erase(std::find(pins_.begin(), pins_.end(), done.pinned_from));
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

void schedule::complete(fingerprint_task& work) { ++work.of->done_units; }

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
        made.units.push_back({i, i});
        bytes = 0;
      }
      made.units.back().last = i + 1;
      bytes += made.chunks[i].where.length;
    }
  }
  batches_.push_back(std::move(made));
}

void schedule::drop_front_segment() {
  const segment& joined = segments_.front();
  const std::uint64_t own_wasted = joined.own.bytes() - joined.own_used_bytes;
  statistics_.twice_cut_bytes += own_wasted + joined.bridge.bytes() - joined.bridge_used_bytes;
  if (joined.is_fused) statistics_.twice_hashed_bytes += own_wasted;
  if (joined.mapped == segment::state::done && !candidates_) judge_speculation(joined);
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
