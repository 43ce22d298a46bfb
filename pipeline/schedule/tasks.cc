// What each task does.
#include "pipeline/schedule/tasks.h"

#include <algorithm>
#include <deque>
#include <new>

namespace cutpoint {

namespace {

/// Chunked and then fingerprinted while it is in the cache: at most half of a usual second-level cache.
constexpr std::uint64_t tile_bytes = 256 * KiB;

/// Cuts on from `next` until a chunk begins at `stop` or later, or nothing more is decided; a tile at most. Returns the
/// bytes.
std::uint64_t cut_tile(chunk_finder& cut, std::uint64_t stop, chain& into) {
  const std::uint64_t begin = into.next;
  while (into.next < stop && into.next - begin < tile_bytes) {
    const auto step = cut(into.next);
    if (!step) break;
    if (step->is_chunk) into.chunks.push_back({into.next, step->next - into.next});
    into.next = step->next;
  }
  return into.next - begin;
}

/// Fingerprints that are asked for and made together. Whatever happens, none is left to be made when it goes: they would
/// be written to where nothing is any more.
class fingerprint_session {
 public:
  fingerprint_session(const ring& held, batch_fingerprinter& with) : ring_(held), batch_(with) {}
  fingerprint_session(const fingerprint_session&) = delete;
  fingerprint_session& operator=(const fingerprint_session&) = delete;
  ~fingerprint_session() {
    if (!is_flushed_) static_cast<void>(batch_.flush());
  }

  /// Returns the chunk's bytes.
  std::uint64_t submit(const chunk& where, digest& into) {
    is_flushed_ = false;
    batch_.submit(ring_.bytes(where.offset, where.offset + where.length), into);
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

status run(map_task& work, const task_context& context, lane& by) {
  segment& of = *work.of;
  if (work.marks_candidates) {
    measure(by.at(stage::chunking), [&] {
      mark_candidates(*context.cuts, *context.held, work.visible_ranges, of.begin, of.end, *context.candidates);
      return of.end - of.begin;
    });
    return {};
  }
  chunk_finder cut(*context.cuts, *context.held, work.visible_ranges);
  of.own.next = work.start;
  std::deque<digest> made;  // each stays where it is when more are asked for
  fingerprint_session session(*context.held, *by.fingerprints);
  std::uint64_t cut_bytes = 1;
  while (cut_bytes != 0 && of.own.next < of.end) {
    measure(by.at(stage::chunking), [&] { return cut_bytes = cut_tile(cut, of.end, of.own); });
    if (!work.fingerprints) continue;
    measure(by.at(stage::fingerprinting), [&] {
      std::uint64_t bytes = 0;
      while (made.size() < of.own.chunks.size()) {
        const chunk& next = of.own.chunks[made.size()];
        bytes += session.submit(next, made.emplace_back());
      }
      return bytes;
    });
  }
  if (made.empty()) return {};
  status outcome;
  measure(by.at(stage::fingerprinting), [&] {
    outcome = session.flush();
    of.own.fingerprints.assign(made.begin(), made.end());
    return std::uint64_t{0};
  });
  return outcome;
}

status run(early_join_task& work, const task_context& context, lane& by) {
  segment& into = *work.into;
  chunk_finder cut(*context.cuts, *context.held, work.visible_ranges);
  chain_cursor own(into.own);
  measure(by.at(stage::chunking), [&] {
    const std::uint64_t begin = into.early_join.next;
    while (into.early_join.next < into.end && !own.find(into.early_join.next)) {
      const auto step = cut(into.early_join.next);
      if (!step) break;
      if (step->is_chunk) into.early_join.chunks.push_back({into.early_join.next, step->next - into.early_join.next});
      into.early_join.next = step->next;
    }
    return into.early_join.next - begin;
  });
  return {};
}

/// Follows the true cuts through one segment.
class joiner {
 public:
  joiner(join_task& work, const task_context& context)
      : work_(work),
        of_(*work.of),
        cut_(*context.cuts, *context.held, work.visible_ranges, work.follows_candidates ? context.candidates : nullptr),
        own_(of_.own),
        early_(of_.early_join) {}

  /// Returns the bytes that were cut here.
  std::uint64_t follow() {
    std::uint64_t cut_bytes = 0;
    while (work_.frontier < of_.end) {
      if (adopt(of_.own, own_, of_.own_used_bytes)) continue;
      if (adopt(of_.early_join, early_, of_.early_used_bytes)) continue;
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
  bool adopt(const chain& from, chain_cursor& cursor, std::uint64_t& used_bytes) {
    const auto first = cursor.find(work_.frontier);
    if (!first || *first == from.chunks.size()) return false;
    const bool is_fingerprinted = !from.fingerprints.empty();
    for (std::size_t i = *first; i < from.chunks.size(); ++i) {
      work_.joined.push_back({.where = from.chunks[i],
                              .fingerprint = is_fingerprinted ? from.fingerprints[i] : digest{},
                              .is_fingerprinted = is_fingerprinted});
      used_bytes += from.chunks[i].length;
    }
    work_.frontier = from.next;
    return true;
  }

  join_task& work_;
  segment& of_;
  chunk_finder cut_;
  chain_cursor own_;
  chain_cursor early_;
};

/// P-Dedupe's join (section 3.3): the chunks on both sides of a forced cut are cut again as one stream that ends where
/// the second does. The last chunk before a forced cut is held back until the first after it has come.
void recut_boundaries(join_task& work, const task_context& context) {
  std::vector<joined_chunk> joined;
  auto is_before_cut = [&, at = std::size_t{0}](std::uint64_t end) mutable {
    while (at < work.visible_ranges.size() && work.visible_ranges[at].end < end) ++at;
    return at < work.visible_ranges.size() && work.visible_ranges[at].end == end &&
           work.visible_ranges[at].how == range_end::cut;
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

status run(join_task& work, const task_context& context, lane& by) {
  measure(by.at(stage::joining), [&] {
    const std::uint64_t cut_bytes = joiner(work, context).follow();
    if (work.recuts_boundaries) recut_boundaries(work, context);
    return cut_bytes + work.recut_bytes;
  });
  return {};
}

status run(fingerprint_task& work, const task_context& context, lane& by) {
  status outcome;
  measure(by.at(stage::fingerprinting), [&] {
    std::uint64_t bytes = 0;
    fingerprint_session session(*context.held, *by.fingerprints);
    for (const fingerprint_task::batch_range& each : work.ranges) {
      for (std::size_t i = each.which.first; i < each.which.last; ++i) {
        joined_chunk& c = each.of->chunks[i];
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
      for (; next_ < work_.of->chunks.size() && work_.of->chunks[next_].where.offset < entry.end; ++next_) {
        if (status taken = take(entry, work_.of->chunks[next_]); !taken.ok()) return taken;
      }
      if (entry.how == range_end::open || entry.end > work_.of->end) return {};
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

status run(deliver_task& work, const task_context& context, lane& by) {
  status outcome;
  measure(by.at(stage::delivery), [&] {
    deliverer batch(work, context);
    outcome = batch.deliver();
    return batch.bytes();
  });
  return outcome;
}

}  // namespace

void perform(task& taken, const task_context& context, lane& by) {
  try {
    taken.outcome = std::visit([&](auto& work) { return run(work, context, by); }, taken.work);
  } catch (const std::bad_alloc&) {
    taken.outcome = out_of_memory();
  }
}

}  // namespace cutpoint
