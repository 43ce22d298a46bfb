// What follows from a finished task.
#include <algorithm>
#include <utility>

#include "pipeline/schedule/schedule.h"

namespace cutpoint {

/// Segments for which speculation pauses after two misses in a row. Each pause is twice as long as the one before.
constexpr std::uint64_t shortest_speculation_pause = 4;
constexpr std::uint64_t longest_speculation_pause = 64;

void schedule::complete(task done, const std::array<stage_work, stage_count>& spent, double now) {
  retained_positions_.erase(std::find(retained_positions_.begin(), retained_positions_.end(), done.retained_from));
  if (done.device) {
    balance_.record_device_work(*done.device, done.device_bytes, now);
  } else {
    balance_.record_processor_work(spent);
  }
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
  recut_chunk_ = work.recut_chunk;
  statistics_.twice_cut_bytes += work.recut_bytes;
  statistics_.twice_hashed_bytes += work.recut_fingerprinted_bytes;
  if (frontier_ >= work.target->end) {
    drop_front_segment();
    next_join_attempt_ = 0;
  } else if (work.join_request == last_join_request_) {
    postpone_join(frontier_);
  }
  const bool is_all = is_finished_ && segments_.empty();
  if (is_all && recut_chunk_) work.joined.push_back(*std::exchange(recut_chunk_, std::nullopt));
  if (progress != 0 || !work.joined.empty()) {
    append_batch(std::move(work.joined), recut_chunk_ ? recut_chunk_->where.offset : frontier_);
  }
}

void schedule::complete(fingerprint_task& work) {
  for (const fingerprint_task::batch_range& each : work.ranges) ++each.batch->done_ranges;
}

void schedule::append_batch(std::vector<joined_chunk> chunks, std::uint64_t end) {
  joined_batch batch{.chunks = std::move(chunks), .ranges = {}, .end = end};
  if (configuration_.fingerprint != fingerprint_kind::none) {
    for (std::size_t i = 0; i < batch.chunks.size(); ++i) {
      if (batch.chunks[i].is_fingerprinted) continue;
      const bool is_full = batch.ranges.empty() || batch.ranges.back().bytes >= configuration_.fingerprint_task_bytes ||
                           i - batch.ranges.back().first >= most_chunks_in_range;
      if (is_full) batch.ranges.push_back({.first = i, .last = i});
      batch.ranges.back().last = i + 1;
      batch.ranges.back().bytes += batch.chunks[i].where.length;
      waiting_fingerprint_bytes_ += batch.chunks[i].where.length;
    }
  }
  batches_.push_back(std::move(batch));
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

/// The calls of a receiver do not overlap, so one such task runs at a time. To deliver the first batch is more urgent
/// than to select a later one.
std::optional<task> schedule::take_delivery() {
  if (is_delivering_) return std::nullopt;
  const std::deque<stream_entry>& entries = sequence_.entries();
  if (batches_.empty()) {
    // Streams that end after the last chunk need a batch of their own.
    const bool has_ended =
        !is_joining_ && !entries.empty() && entries.front().how != range_end::open && entries.front().end <= delivered_;
    if (!has_ended) return std::nullopt;
    append_batch({}, delivered_);
  }
  joined_batch& first = batches_.front();
  if (first.selected && first.selected->done_ranges == first.selected->ranges.size()) {
    is_delivering_ = true;
    return task{.work = deliver_task{.batch = &first, .what = deliver_task::step::deliver_selected},
                .retained_from = delivered_};
  }
  if (selected_batches_ == batches_.size()) return std::nullopt;
  joined_batch& next = batches_[selected_batches_];
  if (next.done_ranges < next.ranges.size() || !may_select(next)) return std::nullopt;
  is_delivering_ = true;
  deliver_task work{.batch = &next,
                    .what = configuration_.has_select ? deliver_task::step::select : deliver_task::step::deliver,
                    .delivers = &next == &first,
                    .state = delivery_};
  work.runs = std::move(pending_runs_);
  for (const removed_run& run : sequence_.take_runs(next.end)) work.runs.push_back(run);
  work.entries = sequence_.take_entries(next.end);
  return task{.work = std::move(work), .retained_from = delivered_};
}

bool schedule::may_select(const joined_batch& next) const noexcept {
  const std::size_t most_chunks = configuration_.selection_bytes / selected_batch::chunk_bytes;
  return &next == &batches_.front() || selected_chunks_ + next.chunks.size() <= most_chunks;
}

std::optional<task> schedule::take_chunk_work() {
  for (std::size_t i = 0; i < selected_batches_; ++i) {
    selected_batch& selected = *batches_[i].selected;
    if (selected.taken_ranges == selected.ranges.size()) continue;
    return task{.work = chunk_work_task{.batch = &batches_[i], .which = selected.ranges[selected.taken_ranges++]},
                .retained_from = batches_[i].chunks.front().where.offset};
  }
  return std::nullopt;
}

void schedule::complete(deliver_task& work) {
  is_delivering_ = false;
  if (work.what == deliver_task::step::deliver_selected) {
    --selected_batches_;
    selected_chunks_ -= work.batch->selected->chunks.size();
  } else {
    delivery_ = work.state;
    for (std::size_t i = 0; i < work.delivered_runs; ++i) {
      statistics_.run_bytes += work.runs[i].count * work.runs[i].period.length;
    }
    work.runs.erase(work.runs.begin(), work.runs.begin() + static_cast<std::ptrdiff_t>(work.delivered_runs));
    pending_runs_ = std::move(work.runs);
  }
  if (!work.delivers) {
    ++selected_batches_;
    if (work.batch->selected) selected_chunks_ += work.batch->selected->chunks.size();  // null after a failure
    return;
  }
  delivered_ = work.batch->end;
  batches_.pop_front();
}

void schedule::complete(chunk_work_task& work) { ++work.batch->selected->done_ranges; }

}  // namespace cutpoint
