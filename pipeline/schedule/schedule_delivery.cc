// The schedule's part that brings batches to the receiver: selection, work on chunks, and delivery.
#include <utility>

#include "pipeline/schedule/schedule.h"

namespace cutpoint {

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
