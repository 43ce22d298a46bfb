// The execution of tasks: maps, fingerprints and joins.
#include "pipeline/schedule/tasks.h"

#include <algorithm>
#include <deque>
#include <new>
#include <numeric>
#include <utility>

#include <cutpoint/batch_fingerprinter.h>

#include "pipeline/schedule/ring.h"

namespace cutpoint {

/// Submits chunks of the ring to a batch fingerprinter. The destructor flushes what was not flushed, because the
/// fingerprinter would otherwise write digests to memory that may have been freed.
class fingerprint_submission {
 public:
  fingerprint_submission(const ring& ring, batch_fingerprinter& batch) : ring_(ring), batch_(batch) {}
  fingerprint_submission(const fingerprint_submission&) = delete;
  fingerprint_submission& operator=(const fingerprint_submission&) = delete;
  ~fingerprint_submission() {
    if (!is_flushed_) static_cast<void>(batch_.flush());
  }

  /// Returns the chunk's bytes.
  std::uint64_t submit(const chunk& where, digest& destination) {
    is_flushed_ = false;
    batch_.submit(ring_.bytes(where.offset, where.offset + where.length), destination);
    return where.length;
  }
  status flush() {
    is_flushed_ = true;
    return batch_.flush();
  }

 private:
  const ring& ring_;
  batch_fingerprinter& batch_;
  bool is_flushed_ = true;
};

void perform(task& task, const task_context& context, lane& worker) {
  try {
    task.outcome = std::visit([&](auto& work) { return perform(work, context, worker); }, task.work);
  } catch (const std::bad_alloc&) {
    task.outcome = out_of_memory();
  }
}

/// An error is left to whoever reads the rest.
status perform(read_task& work, const task_context& context, lane& worker) {
  block_read& block = *work.target;
  measure(worker.at(stage::reading), [&] {
    const std::span<std::uint8_t> room(context.ring->at(block.position), block.from.length);
    while (block.read_bytes < room.size() && !context.is_cancelled()) {
      const auto count =
          block.from.reader->read_at(block.from.offset + block.read_bytes, room.subspan(block.read_bytes));
      if (!count || *count == 0) break;
      block.read_bytes += *count;
    }
    return block.read_bytes;
  });
  return {};
}

// Chains of chunks.

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

// Maps and early joins, which find chunks before it is known where a segment's first chunk begins.

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

// Fingerprints of chunks that the join found.

status perform(fingerprint_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::fingerprinting), [&] {
    std::uint64_t bytes = 0;
    fingerprint_submission session(*context.ring, *worker.fingerprints);
    for (const fingerprint_task::batch_range& each : work.ranges) {
      for (std::size_t i = each.which.first; i < each.which.last; ++i) {
        joined_chunk& c = each.batch->chunks[i];
        if (!c.is_fingerprinted) bytes += session.submit(c.where, c.fingerprint);
      }
    }
    outcome = session.flush();
    return bytes;
  });
  return outcome;
}

// Joins, which follow the true cuts from segment to segment.

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
