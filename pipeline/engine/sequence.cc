// The parts of a sequence, in order.
#include "pipeline/engine/sequence.h"

#include <algorithm>
#include <utility>

namespace cutpoint {

void sequence::learn(intake_news news) {
  readable_ = news.readable;
  for (intake_event& event : news.events) {
    if (event.what == intake_event::kind::begin) ++part_count_;
    switch (event.what) {
      case intake_event::kind::begin:
        parts_.push_back({.stream = event.stream, .begin = event.position});
        break;
      case intake_event::kind::end: {
        stream_part& ended = parts_.back();
        ended.end = event.position;
        ended.how = event.how;
        ended.outcome = std::move(event.outcome);
        if (event.how == stretch_end::cut) {
          parts_.push_back({.stream = ended.stream, .begin = event.position, .continues = true});
        }
        break;
      }
      case intake_event::kind::run:
        runs_.push_back({event.position, event.count, event.period});
        break;
    }
  }
  if (!parts_.empty() && parts_.back().how == stretch_end::open) parts_.back().end = readable_;
}

std::size_t sequence::part_after(std::uint64_t position) const noexcept {
  const auto found =
      std::partition_point(parts_.begin(), parts_.end(), [&](const stream_part& part) { return part.end <= position; });
  return static_cast<std::size_t>(found - parts_.begin());
}

std::vector<stretch> sequence::stretches(std::uint64_t first, std::uint64_t last, std::uint64_t visible) const {
  std::vector<stretch> found;
  for (std::size_t i = part_after(first); i < parts_.size() && parts_[i].begin < std::min(last, visible); ++i) {
    const stream_part& part = parts_[i];
    if (part.begin == part.end) continue;
    const bool is_whole = part.end <= visible;
    found.push_back(
        {.begin = part.begin, .end = is_whole ? part.end : visible, .how = is_whole ? part.how : stretch_end::open});
  }
  return found;
}

std::vector<stream_part> sequence::take_parts(std::uint64_t position) {
  std::vector<stream_part> taken;
  while (!parts_.empty()) {
    stream_part& part = parts_.front();
    if (part.how == stretch_end::open || part.end > position) {
      taken.push_back(part);
      break;
    }
    taken.push_back(std::move(part));
    parts_.pop_front();
  }
  return taken;
}

std::vector<taken_run> sequence::take_runs(std::uint64_t position) {
  std::vector<taken_run> taken;
  for (; !runs_.empty() && runs_.front().position < position; runs_.pop_front()) taken.push_back(runs_.front());
  return taken;
}

bool sequence::is_seen_past(std::uint64_t position, std::uint64_t ahead) const noexcept {
  const std::size_t i = part_after(position - 1);
  return i == parts_.size() || parts_[i].how != stretch_end::open || parts_[i].end - position >= ahead;
}

std::uint64_t sequence::seen_with(std::uint64_t ahead) const noexcept {
  if (parts_.empty() || parts_.back().how != stretch_end::open) return readable_;
  return std::max(parts_.back().begin, readable_ - std::min(readable_, ahead));
}

std::uint64_t sequence::offset_in_part(std::uint64_t position) const noexcept {
  const std::size_t i = part_after(position);
  return i == parts_.size() ? 0 : position - parts_[i].begin;
}

}  // namespace cutpoint
