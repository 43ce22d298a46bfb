// Maps and early joins, which find chunks before it is known where a segment's first chunk begins.
#include <deque>

#include "pipeline/schedule/fingerprint_submission.h"
#include "pipeline/schedule/tasks.h"

namespace cutpoint {

namespace {

/// Bytes that a lane cuts and then fingerprints while they are in the cache: half of a usual second-level cache.
constexpr std::uint64_t tile_bytes = 256 * KiB;

/// Extends the chain by at most one tile. Stops earlier if a chunk begins at `stop` or later, if the next cut depends
/// on bytes outside the visible ranges, or if the feed is cancelled. Returns the number of bytes that were cut.
std::uint64_t cut_tile(chunk_finder& cut, std::uint64_t stop, const task_context& context, chain& chain) {
  const std::uint64_t begin = chain.next;
  while (chain.next < stop && chain.next - begin < tile_bytes && !context.is_cancelled()) {
    const auto step = cut(chain.next);
    if (!step) break;
    if (step->is_chunk) chain.chunks.push_back({chain.next, step->next - chain.next});
    chain.next = step->next;
  }
  return chain.next - begin;
}

}  // namespace

status perform(map_task& work, const task_context& context, lane& worker) {
  segment& target = *work.target;
  if (work.marks_candidates) {
    measure(worker.at(stage::chunking), [&] {
      mark_candidates((*context.cuts)[0], *context.ring, work.visible_ranges, target.begin, target.end,
                      *context.candidates);
      return target.end - target.begin;
    });
    return {};
  }
  chunk_finder cut(*context.cuts, worker.cursors, *context.ring, work.visible_ranges);
  target.own.next = work.start;
  std::deque<digest> digests;  // a deque, because the fingerprinter holds pointers to the digests
  fingerprint_submission session(*context.ring, *worker.fingerprints);
  std::uint64_t cut_bytes = 1;  // 0 once nothing more is decided
  while (cut_bytes != 0 && target.own.next < target.end) {
    measure(worker.at(stage::chunking), [&] { return cut_bytes = cut_tile(cut, target.end, context, target.own); });
    if (context.is_cancelled()) return stopped_as_asked();
    if (!work.fingerprints) continue;
    measure(worker.at(stage::fingerprinting), [&] {
      std::uint64_t bytes = 0;
      while (digests.size() < target.own.chunks.size()) {
        const chunk& next = target.own.chunks[digests.size()];
        bytes += session.submit(next, digests.emplace_back());
      }
      return bytes;
    });
  }
  if (digests.empty()) return {};
  status outcome;
  measure(worker.at(stage::fingerprinting), [&] {
    outcome = session.flush();
    target.own.fingerprints.assign(digests.begin(), digests.end());
    return std::uint64_t{0};
  });
  return outcome;
}

status perform(early_join_task& work, const task_context& context, lane& worker) {
  segment& target = *work.target;
  chunk_finder cut(*context.cuts, *context.ring, work.visible_ranges);
  chain_cursor own(target.own);
  measure(worker.at(stage::chunking), [&] {
    const std::uint64_t begin = target.early_join.next;
    while (target.early_join.next < target.end && !own.find(target.early_join.next) && !context.is_cancelled()) {
      const auto step = cut(target.early_join.next);
      if (!step) break;
      if (step->is_chunk)
        target.early_join.chunks.push_back({target.early_join.next, step->next - target.early_join.next});
      target.early_join.next = step->next;
    }
    return target.early_join.next - begin;
  });
  return context.is_cancelled() ? stopped_as_asked() : status();
}

}  // namespace cutpoint
