// Chains of chunks.
#include "pipeline/schedule/chain.h"

#include <algorithm>
#include <numeric>

namespace cutpoint {

std::optional<chunk_finder::step> chunk_finder::operator()(std::uint64_t start) {
  while (!ranges_.empty() && ranges_.front().end <= start) ranges_ = ranges_.subspan(1);
  if (ranges_.empty()) return std::nullopt;
  const visible_range& around = ranges_.front();
  const std::uint64_t behind = std::min((*chunkers_)[around.rule].behind(), start - around.begin);
  const stream_window window{.bytes = ring_->bytes(start - behind, around.end),
                             .start = behind,
                             .at_end = around.how == range_end::stream || around.how == range_end::cut};
  if (const auto length = next_cut(window, start, around.rule)) return step{start + *length, true};
  if (around.how == range_end::failed) return step{around.end, false};
  return std::nullopt;
}

std::optional<std::uint64_t> chunk_finder::next_cut(const stream_window& window, std::uint64_t start,
                                                    std::size_t rule) {
  const chunker& cuts = (*chunkers_)[rule];
  if (candidates_ != nullptr) return cuts.next_cut(window, *candidates_, start);
  if (cursors_ == nullptr) return cuts.next_cut(window);
  std::optional<cut_cursor>& cursor = (*cursors_)[rule];
  if (!cursor) cursor.emplace(cuts);
  return cursor->next_cut(window, start);
}

std::uint64_t chain::bytes() const noexcept {
  return std::accumulate(chunks.begin(), chunks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const chunk& c) { return sum + c.length; });
}

std::optional<std::size_t> chain_cursor::find(std::uint64_t position) {
  const std::vector<chunk>& chunks = chain_->chunks;
  while (at_ < chunks.size() && chunks[at_].offset < position) ++at_;
  if (at_ < chunks.size()) return chunks[at_].offset == position ? std::optional(at_) : std::nullopt;
  return chain_->next == position ? std::optional(at_) : std::nullopt;
}

void mark_candidates(const chunker& chunker, const ring& ring, std::span<const visible_range> visible_ranges,
                     std::uint64_t first, std::uint64_t last, candidate_bits& candidates) {
  const candidate_map_needs needs = *chunker.candidate_map();
  candidates.clear(first, last);
  for (const visible_range& s : visible_ranges) {
    const std::uint64_t begin = std::max(first, s.begin);
    const std::uint64_t end = std::min(last, s.end);
    if (begin >= end) continue;
    const std::uint64_t behind = std::min(needs.behind, begin - s.begin);
    const std::uint64_t shown = std::min(end + needs.ahead, s.end);
    const stream_window window{.bytes = ring.bytes(begin - behind, shown),
                               .start = behind,
                               .at_end = shown == s.end && s.how != range_end::open};
    chunker.find_candidates(window, end - begin, begin, candidates);
  }
}

}  // namespace cutpoint
