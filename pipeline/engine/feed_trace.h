// The trace of a feed: notes are handed to the receiver under the engine's lock, with how full the queues are then.
#pragma once

#include <span>
#include <vector>

#include <cutpoint/trace.h>

#include "pipeline/engine/lane.h"

namespace cutpoint {

class feed_trace {
 public:
  /// Nothing is traced.
  feed_trace() = default;
  /// From now on every lane keeps notes.
  feed_trace(trace_receiver& to, std::span<lane> lanes, std::span<const lane_record> records)
      : to_(&to), opened_(span_notes::clock::now()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i].notes = std::make_unique<span_notes>(span_notes{i, records[i].device, opened_});
    }
    to.begin(opened_, records);
  }

  /// Hands over what `by` has noted, and the levels, which have no time yet.
  void hand_over(lane& by, trace_levels levels) {
    if (to_ == nullptr) return;
    for (const trace_span& span : by.notes->spans) to_->take(span);
    by.notes->spans.clear();
    levels.at = by.notes->seconds(span_notes::clock::now());
    to_->take(levels);
  }

 private:
  trace_receiver* to_ = nullptr;
  span_notes::clock::time_point opened_ = {};
};

}  // namespace cutpoint
