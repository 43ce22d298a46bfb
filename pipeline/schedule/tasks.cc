// What each task does.
#include "pipeline/schedule/tasks.h"

#include <algorithm>
#include <deque>
#include <new>

namespace cutpoint {

namespace {

/// Chunked and then fingerprinted while it is in the cache: at most half of a usual second-level cache.
constexpr std::uint64_t tile_bytes = 256 * KiB;

// Each loop over chunks asks whether the feed is cancelled: where windows are long and chunks short, a segment takes
// minutes.

/// Cuts on from `next` until a chunk begins at `stop` or later, or nothing more is decided, or the feed is cancelled; a
/// tile at most. Returns the bytes.
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

/// Fingerprints that are asked for and made together. Whatever happens, none is left to be made when it goes: they would
/// be written to where nothing is any more.
class fingerprint_session {
 public:
  fingerprint_session(const ring& held, batch_fingerprinter& batch) : ring_(held), batch_(batch) {}
  fingerprint_session(const fingerprint_session&) = delete;
  fingerprint_session& operator=(const fingerprint_session&) = delete;
  ~fingerprint_session() {
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

status run(map_task& work, const task_context& context, lane& worker) {
  segment& target = *work.target;
  if (work.marks_candidates) {
    measure(worker.at(stage::chunking), [&] {
      mark_candidates(*context.cuts, *context.held, work.visible_ranges, target.begin, target.end, *context.candidates);
      return target.end - target.begin;
    });
    return {};
  }
  chunk_finder cut(*context.cuts, *context.held, work.visible_ranges);
  target.own.next = work.start;
  std::deque<digest> made;  // each stays where it is when more are asked for
  fingerprint_session session(*context.held, *worker.fingerprints);
  std::uint64_t cut_bytes = 1;
  while (cut_bytes != 0 && target.own.next < target.end) {
    measure(worker.at(stage::chunking), [&] { return cut_bytes = cut_tile(cut, target.end, context, target.own); });
    if (context.is_cancelled()) return stopped_as_asked();
    if (!work.fingerprints) continue;
    measure(worker.at(stage::fingerprinting), [&] {
      std::uint64_t bytes = 0;
      while (made.size() < target.own.chunks.size()) {
        const chunk& next = target.own.chunks[made.size()];
        bytes += session.submit(next, made.emplace_back());
      }
      return bytes;
    });
  }
  if (made.empty()) return {};
  status outcome;
  measure(worker.at(stage::fingerprinting), [&] {
    outcome = session.flush();
    target.own.fingerprints.assign(made.begin(), made.end());
    return std::uint64_t{0};
  });
  return outcome;
}

status run(early_join_task& work, const task_context& context, lane& worker) {
  segment& target = *work.target;
  chunk_finder cut(*context.cuts, *context.held, work.visible_ranges);
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

/// Follows the true cuts through one segment.
class joiner {
 public:
  joiner(join_task& work, const task_context& context)
      : work_(work),
        context_(context),
        target_(*work.target),
        cut_(*context.cuts, *context.held, work.visible_ranges, work.follows_candidates ? context.candidates : nullptr),
        own_(target_.own),
        early_(target_.early_join) {}

  /// Returns the bytes that were cut here.
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
  /// Takes the chain's chunks from the frontier on, where it has some.
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

/// P-Dedupe's join (section 3.3): the chunks on both sides of a forced cut are cut again as one stream that ends where
/// the second does. The last chunk before a forced cut is held back until the first after it has come.
void recut_boundaries(join_task& work, const task_context& context) {
  std::vector<joined_chunk> joined;
  auto is_before_cut = [&, index = std::size_t{0}](std::uint64_t end) mutable {
    while (index < work.visible_ranges.size() && work.visible_ranges[index].end < end) ++index;
    return index < work.visible_ranges.size() && work.visible_ranges[index].end == end &&
           work.visible_ranges[index].how == range_end::cut;
  };
  for (const joined_chunk& next : work.joined) {
    const std::uint64_t end = next.where.offset + next.where.length;
    if (work.held && work.held->where.offset + work.held->where.length == next.where.offset) {
      const std::uint64_t begin = work.held->where.offset;
      for (const chunk& again : context.cuts->find_cuts(context.held->bytes(begin, end))) {
        joined.push_back({.where = {begin + again.offset, again.length}});
      }
      work.recut_bytes += end - begin;
      for (const joined_chunk& c : {*work.held, next}) {
        if (c.is_fingerprinted) work.recut_fingerprinted_bytes += c.where.length;
      }
      work.held.reset();
    } else {
      if (work.held) joined.push_back(*std::exchange(work.held, std::nullopt));
      joined.push_back(next);
    }
    if (is_before_cut(end)) {
      work.held = joined.back();
      joined.pop_back();
    }
  }
  work.joined = std::move(joined);
}

status run(join_task& work, const task_context& context, lane& worker) {
  measure(worker.at(stage::joining), [&] {
    const std::uint64_t cut_bytes = joiner(work, context).follow();
    if (work.recuts_boundaries && !context.is_cancelled()) recut_boundaries(work, context);
    return cut_bytes + work.recut_bytes;
  });
  return context.is_cancelled() ? stopped_as_asked() : status();
}

status run(fingerprint_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::fingerprinting), [&] {
    std::uint64_t bytes = 0;
    fingerprint_session session(*context.held, *worker.fingerprints);
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

/// Hands a batch to the receiver, with the streams' beginnings and ends and the runs that were taken out.
class deliverer {
 public:
  deliverer(deliver_task& work, const task_context& context) : work_(work), context_(context) {}

  status deliver() {
    for (const stream_entry& entry : work_.entries) {
      if (status begun = begin(entry); !begun.ok()) return begun;
      for (; next_ < work_.batch->chunks.size() && work_.batch->chunks[next_].where.offset < entry.end; ++next_) {
        if (status taken = take(entry, work_.batch->chunks[next_]); !taken.ok()) return taken;
      }
      if (entry.how == range_end::open || entry.end > work_.batch->end) return {};
      if (entry.how == range_end::cut) continue;
      work_.state.has_begun = false;
      if (status ended = context_.receiver->end_stream(entry.stream, entry.outcome); !ended.ok()) return ended;
    }
    return {};
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  status begin(const stream_entry& entry) {
    if (entry.continues || work_.state.has_begun) return {};
    work_.state = {.has_begun = true, .offset = 0};
    return context_.receiver->begin_stream(entry.stream);
  }

  status take(const stream_entry& entry, const joined_chunk& c) {
    for (; work_.delivered_runs < work_.runs.size() && work_.runs[work_.delivered_runs].position <= c.where.offset;
         ++work_.delivered_runs) {
      const removed_run& run = work_.runs[work_.delivered_runs];
      const status taken = hand_over({.stream = entry.stream,
                                      .offset = work_.state.offset,
                                      .length = run.period.length,
                                      .count = run.count,
                                      .fingerprint = run.period.fingerprint,
                                      .bytes = bytes_of(c.where.offset, run.period.length)});
      if (!taken.ok()) return taken;
    }
    return hand_over({.stream = entry.stream,
                      .offset = work_.state.offset,
                      .length = c.where.length,
                      .fingerprint = c.fingerprint,
                      .bytes = bytes_of(c.where.offset, c.where.length)});
  }

  /// What was taken out was of the same byte as what stands there now.
  byte_span bytes_of(std::uint64_t begin, std::uint64_t length) const {
    return context_.held->bytes(begin, begin + length);
  }

  status hand_over(const delivered_chunk& c) {
    work_.state.offset += c.length * c.count;
    bytes_ += c.length * c.count;
    return context_.receiver->take(c);
  }

  deliver_task& work_;
  const task_context& context_;
  std::size_t next_ = 0;
  std::uint64_t bytes_ = 0;
};

status run(deliver_task& work, const task_context& context, lane& worker) {
  status outcome;
  measure(worker.at(stage::delivery), [&] {
    deliverer batch(work, context);
    outcome = batch.deliver();
    return batch.bytes();
  });
  return outcome;
}

}  // namespace

void perform(task& taken, const task_context& context, lane& worker) {
  try {
    taken.outcome = std::visit([&](auto& work) { return run(work, context, worker); }, taken.work);
  } catch (const std::bad_alloc&) {
    taken.outcome = out_of_memory();
  }
}

}  // namespace cutpoint
