// Delivery: chunks are selected, worked on and taken by the receiver.
#include <algorithm>
#include <utility>

#include "pipeline/schedule/tasks.h"

namespace cutpoint {

namespace {

/// Bytes of chunks whose work a lane performs in one task. Smaller tasks share a batch among lanes more evenly; larger
/// ones take the lock less often.
constexpr std::uint64_t work_task_bytes = 256 * KiB;

/// Delivers a batch to a receiver: its chunks, the runs that were removed before them, and the beginnings and ends of
/// streams.
class deliverer {
 public:
  deliverer(deliver_task& work, const task_context& context, chunk_receiver& receiver)
      : work_(work), context_(context), receiver_(receiver) {}

  status deliver() {
    for (const stream_entry& entry : work_.entries) {
      CUTPOINT_RETURN_IF_FAILED(begin(entry));
      for (; next_ < work_.batch->chunks.size() && work_.batch->chunks[next_].where.offset < entry.end; ++next_) {
        CUTPOINT_RETURN_IF_FAILED(take(entry, work_.batch->chunks[next_]));
      }
      if (entry.how == range_end::open || entry.end > work_.batch->end) return {};
      if (entry.how == range_end::cut) continue;
      work_.state.has_begun = false;
      CUTPOINT_RETURN_IF_FAILED(receiver_.end_stream(entry.stream, entry.outcome));
    }
    return {};
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  status begin(const stream_entry& entry) {
    if (entry.continues || work_.state.has_begun) return {};
    work_.state = {.has_begun = true, .offset = 0};
    return receiver_.begin_stream(entry.stream);
  }

  status take(const stream_entry& entry, const joined_chunk& c) {
    for (; work_.delivered_runs < work_.runs.size() && work_.runs[work_.delivered_runs].position <= c.where.offset;
         ++work_.delivered_runs) {
      const removed_run& run = work_.runs[work_.delivered_runs];
      CUTPOINT_RETURN_IF_FAILED(hand_over({.stream = entry.stream,
                                           .offset = work_.state.offset,
                                           .length = run.period.length,
                                           .count = run.count,
                                           .fingerprint = run.period.fingerprint,
                                           .rule = static_cast<std::uint32_t>(entry.rule),
                                           .bytes = bytes_of(c.where.offset, run.period.length)}));
    }
    return hand_over({.stream = entry.stream,
                      .offset = work_.state.offset,
                      .length = c.where.length,
                      .fingerprint = c.fingerprint,
                      .rule = static_cast<std::uint32_t>(entry.rule),
                      .bytes = bytes_of(c.where.offset, c.where.length)});
  }

  /// The removed periods of a run have the same byte as the rest of the run, which is still in the ring.
  byte_span bytes_of(std::uint64_t begin, std::uint64_t length) const {
    return context_.ring->bytes(begin, begin + length);
  }

  status hand_over(delivered_chunk c) {
    work_.state.offset += c.length * c.count;
    bytes_ += c.length * c.count;
    c.memory = context_.kept_memory;
    return receiver_.take(c);
  }

  deliver_task& work_;
  const task_context& context_;
  chunk_receiver& receiver_;
  std::size_t next_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Records what is delivered, for a receiver that selects chunks first.
class delivery_recorder final : public chunk_receiver {
 public:
  explicit delivery_recorder(selected_batch& recorded) : recorded_(recorded) {}

  status begin_stream(std::uint64_t stream) override {
    recorded_.events.push_back({.chunk_index = recorded_.chunks.size(), .begins = true, .stream = stream});
    return {};
  }
  status take(const delivered_chunk& chunk) override {
    recorded_.chunks.push_back(chunk);
    return {};
  }
  status end_stream(std::uint64_t stream, const status& outcome) override {
    recorded_.events.push_back({.chunk_index = recorded_.chunks.size(), .stream = stream, .outcome = outcome});
    return {};
  }

 private:
  selected_batch& recorded_;
};

void make_work_ranges(selected_batch& selected) {
  for (std::size_t i = 0; i < selected.work.size(); ++i) {
    if (!selected.work[i]) continue;
    if (selected.ranges.empty() || selected.ranges.back().bytes >= work_task_bytes) {
      selected.ranges.push_back({.first = i, .last = i});
    }
    selected.ranges.back().last = i + 1;
    selected.ranges.back().bytes += selected.chunks[i].length;
  }
}

status select(deliver_task& work, const task_context& context) {
  auto selected = std::make_unique<selected_batch>();
  selected->chunks.reserve(work.batch->chunks.size() + work.runs.size());
  delivery_recorder recorder(*selected);
  CUTPOINT_RETURN_IF_FAILED(deliverer(work, context, recorder).deliver());
  selected->work.resize(selected->chunks.size());
  if (!selected->chunks.empty()) CUTPOINT_RETURN_IF_FAILED(context.receiver->select(selected->chunks, selected->work));
  make_work_ranges(*selected);
  work.batch->selected = std::move(selected);
  return {};
}

/// Delivers what was recorded. `bytes` is increased by the bytes of the chunks.
status replay(selected_batch& selected, chunk_receiver& receiver, std::uint64_t& bytes) {
  // Destroys all work before the batch is destroyed under the engine's lock, also after a failure.
  std::vector<std::unique_ptr<chunk_work>> work = std::move(selected.work);
  auto event = selected.events.begin();
  for (std::size_t i = 0; i <= selected.chunks.size(); ++i) {
    for (; event != selected.events.end() && event->chunk_index == i; ++event) {
      CUTPOINT_RETURN_IF_FAILED(event->begins ? receiver.begin_stream(event->stream)
                                              : receiver.end_stream(event->stream, event->outcome));
    }
    if (i == selected.chunks.size()) break;
    delivered_chunk& chunk = selected.chunks[i];
    chunk.work = work[i].get();
    bytes += chunk.length * chunk.count;
    CUTPOINT_RETURN_IF_FAILED(receiver.take(chunk));
    work[i].reset();
  }
  return {};
}

status select_or_deliver(deliver_task& work, const task_context& context, std::uint64_t& bytes) {
  if (work.what == deliver_task::step::select) {
    CUTPOINT_RETURN_IF_FAILED(select(work, context));
    work.delivers = work.delivers && work.batch->selected->ranges.empty();
  }
  if (!work.delivers) return {};
  if (work.batch->selected) return replay(*work.batch->selected, *context.receiver, bytes);
  deliverer direct(work, context, *context.receiver);
  const status outcome = direct.deliver();
  bytes += direct.bytes();
  return outcome;
}

}  // namespace

status perform(deliver_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::delivery), [&] {
    std::uint64_t bytes = 0;
    outcome = select_or_deliver(work, context, bytes);
    return bytes;
  });
  return outcome;
}

status perform(chunk_work_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::delivery), [&] {
    selected_batch& selected = *work.batch->selected;
    for (std::size_t i = work.which.first; i < work.which.last && outcome.ok(); ++i) {
      if (!selected.work[i]) continue;
      outcome = context.is_cancelled() ? stopped_as_asked() : selected.work[i]->perform(selected.chunks[i]);
    }
    return std::uint64_t{0};  // the delivery counts the bytes
  });
  return outcome;
}

}  // namespace cutpoint
