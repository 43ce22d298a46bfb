// The entries and runs of the sequence, in order.
#include "pipeline/sequence/sequence.h"

#include <algorithm>
#include <utility>

namespace cutpoint {

void sequence::apply_update(intake_update update) {
  readable_ = update.readable;
  for (intake_event& event : update.events) {
    if (event.what == intake_event::kind::begin) ++stream_count_;
    switch (event.what) {
      case intake_event::kind::begin:
        entries_.push_back({.stream = event.stream, .rule = event.rule, .begin = event.position});
        break;
      case intake_event::kind::end: {
        stream_entry& ended = entries_.back();
        ended.end = event.position;
        ended.how = event.how;
        ended.outcome = std::move(event.outcome);
        if (event.how == range_end::cut) {
          entries_.push_back({.stream = ended.stream, .rule = ended.rule, .begin = event.position, .continues = true});
        }
        break;
      }
      case intake_event::kind::run:
        runs_.push_back({event.position, event.count, event.period});
        break;
    }
  }
  if (!entries_.empty() && entries_.back().how == range_end::open) entries_.back().end = readable_;
}

std::size_t sequence::entry_after(std::uint64_t position) const noexcept {
  const auto position_after = std::partition_point(entries_.begin(), entries_.end(),
                                                   [&](const stream_entry& entry) { return entry.end <= position; });
  return static_cast<std::size_t>(position_after - entries_.begin());
}

std::vector<visible_range> sequence::visible_ranges(std::uint64_t first, std::uint64_t last,
                                                    std::uint64_t visible) const {
  std::vector<visible_range> ranges;
  for (std::size_t i = entry_after(first); i < entries_.size() && entries_[i].begin < std::min(last, visible); ++i) {
    const stream_entry& entry = entries_[i];
    if (entry.begin == entry.end) continue;
    const bool is_whole = entry.end <= visible;
    ranges.push_back({.begin = entry.begin,
                      .end = is_whole ? entry.end : visible,
                      .how = is_whole ? entry.how : range_end::open,
                      .rule = entry.rule});
  }
  return ranges;
}

std::vector<stream_entry> sequence::take_entries(std::uint64_t position) {
  std::vector<stream_entry> entries;
  while (!entries_.empty()) {
    stream_entry& entry = entries_.front();
    if (entry.how == range_end::open || entry.end > position) {
      entries.push_back(entry);
      break;
    }
    entries.push_back(std::move(entry));
    entries_.pop_front();
  }
  return entries;
}

std::vector<removed_run> sequence::take_runs(std::uint64_t position) {
  std::vector<removed_run> runs;
  for (; !runs_.empty() && runs_.front().position < position; runs_.pop_front()) runs.push_back(runs_.front());
  return runs;
}

bool sequence::has_lookahead(std::uint64_t position, std::uint64_t ahead) const noexcept {
  const std::size_t i = entry_after(position - 1);
  return i == entries_.size() || entries_[i].how != range_end::open || entries_[i].end - position >= ahead;
}

std::uint64_t sequence::last_position_with_lookahead(std::uint64_t ahead) const noexcept {
  if (entries_.empty() || entries_.back().how != range_end::open) return readable_;
  return std::max(entries_.back().begin, readable_ - std::min(readable_, ahead));
}

std::uint64_t sequence::offset_in_entry(std::uint64_t position) const noexcept {
  const std::size_t i = entry_after(position);
  return i == entries_.size() ? 0 : position - entries_[i].begin;
}

}  // namespace cutpoint
