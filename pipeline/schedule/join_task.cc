// Joins, which follow the true cuts from segment to segment.
#include <utility>

#include "pipeline/schedule/tasks.h"

namespace cutpoint {

namespace {

/// Follows the true cuts through one segment.
class joiner {
 public:
  joiner(join_task& work, const task_context& context)
      : work_(work),
        context_(context),
        target_(*work.target),
        cut_(*context.cuts, *context.ring, work.visible_ranges, work.follows_candidates ? context.candidates : nullptr),
        own_(target_.own),
        early_(target_.early_join) {}

  /// Returns the number of bytes that were cut again.
  std::uint64_t follow() {
    std::uint64_t cut_bytes = 0;
    while (work_.frontier < target_.end && !context_.is_cancelled()) {
      if (adopt(target_.own, own_, target_.own_used_bytes)) continue;
      if (adopt(target_.early_join, early_, target_.early_used_bytes)) continue;
      const auto step = cut_(work_.frontier);
      if (!step) break;
      if (step->is_chunk) {
        work_.joined.push_back({.where = {work_.frontier, step->next - work_.frontier}});
        cut_bytes += step->next - work_.frontier;
      }
      work_.frontier = step->next;
    }
    return cut_bytes;
  }

 private:
  /// Takes the chain's chunks from the frontier on. Returns false if the chain has no chunk that begins there.
  bool adopt(const chain& chain, chain_cursor& cursor, std::uint64_t& used_bytes) {
    const auto first = cursor.find(work_.frontier);
    if (!first || *first == chain.chunks.size()) return false;
    const bool is_fingerprinted = !chain.fingerprints.empty();
    for (std::size_t i = *first; i < chain.chunks.size(); ++i) {
      work_.joined.push_back({.where = chain.chunks[i],
                              .fingerprint = is_fingerprinted ? chain.fingerprints[i] : digest{},
                              .is_fingerprinted = is_fingerprinted});
      used_bytes += chain.chunks[i].length;
    }
    work_.frontier = chain.next;
    return true;
  }

  join_task& work_;
  const task_context& context_;
  segment& target_;
  chunk_finder cut_;
  chain_cursor own_;
  chain_cursor early_;
};

/// P-Dedupe's join (section 3.3) cuts the two chunks on both sides of a forced cut again, as one stream. The last chunk
/// before a forced cut is held back until the first chunk after it is known.
void recut_boundaries(join_task& work, const task_context& context) {
  std::vector<joined_chunk> joined;
  auto range_of = [&, index = std::size_t{0}](std::uint64_t end) mutable -> const visible_range& {
    while (work.visible_ranges[index].end < end) ++index;
    return work.visible_ranges[index];
  };
  for (const joined_chunk& next : work.joined) {
    const std::uint64_t end = next.where.offset + next.where.length;
    const visible_range& around = range_of(end);
    if (work.recut_chunk && work.recut_chunk->where.offset + work.recut_chunk->where.length == next.where.offset) {
      const std::uint64_t begin = work.recut_chunk->where.offset;
      for (const chunk& again : (*context.cuts)[around.rule].find_cuts(context.ring->bytes(begin, end))) {
        joined.push_back({.where = {begin + again.offset, again.length}});
      }
      work.recut_bytes += end - begin;
      for (const joined_chunk& c : {*work.recut_chunk, next}) {
        if (c.is_fingerprinted) work.recut_fingerprinted_bytes += c.where.length;
      }
      work.recut_chunk.reset();
    } else {
      if (work.recut_chunk) joined.push_back(*std::exchange(work.recut_chunk, std::nullopt));
      joined.push_back(next);
    }
    if (around.end == end && around.how == range_end::cut) {
      work.recut_chunk = joined.back();
      joined.pop_back();
    }
  }
  work.joined = std::move(joined);
}

}  // namespace

status perform(join_task& work, const task_context& context, lane& worker) {
  measure(worker.at(stage::joining), [&] {
    const std::uint64_t cut_bytes = joiner(work, context).follow();
    if (work.recuts_boundaries && !context.is_cancelled()) recut_boundaries(work, context);
    return cut_bytes + work.recut_bytes;
  });
  return context.is_cancelled() ? stopped_as_asked() : status();
}

}  // namespace cutpoint
