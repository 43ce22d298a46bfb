// The trace of a feed: hands notes and queue levels to the receiver, under the engine's lock.
#pragma once

#include <span>
#include <vector>

#include <cutpoint/trace.h>

#include "pipeline/sequence/lane.h"

namespace cutpoint {

class feed_trace {
 public:
  /// Traces nothing.
  feed_trace() = default;
  /// Lets every lane keep notes.
  feed_trace(trace_receiver& receiver, std::span<lane> lanes, std::span<const lane_record> records)
      : receiver_(&receiver), opening_time_(span_notes::clock::now()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].notes = std::make_unique<span_notes>(span_notes{i, records[i].device, opening_time_});
    }
    receiver.begin(opening_time_, records);
  }

  /// Hands over the notes of `worker`, and `levels` with the present time.
  void hand_over(lane& worker, trace_levels levels) {
    if (receiver_ == nullptr) return;
    for (const trace_span& span : worker.notes->spans) receiver_->take(span);
    worker.notes->spans.clear();
    levels.at = worker.notes->seconds(span_notes::clock::now());
    receiver_->take(levels);
  }

 private:
  trace_receiver* receiver_ = nullptr;
  span_notes::clock::time_point opening_time_ = {};
};

}  // namespace cutpoint
