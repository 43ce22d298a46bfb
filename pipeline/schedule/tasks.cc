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
std::uint64_t cut_tile(stretch_cutter& cut, std::uint64_t stop, chain& into) {
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
  fingerprint_session(const ring& held, fingerprint_batch& with) : ring_(held), batch_(with) {}
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
  fingerprint_batch& batch_;
  bool is_flushed_ = true;
};

status run(map_task& work, const task_surroundings& around, lane& by) {
  segment& of = *work.of;
  if (work.marks_candidates) {
    measure(by.at(stage::chunking), [&] {
      mark_candidates(*around.cuts, *around.held, work.stretches, of.begin, of.end, *around.candidates);
      return of.end - of.begin;
    });
    return {};
  }
  stretch_cutter cut(*around.cuts, *around.held, work.stretches);
  of.own.next = work.start;
  std::deque<digest> made;  // each stays where it is when more are asked for
  fingerprint_session session(*around.held, *by.fingerprints);
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

status run(bridge_task& work, const task_surroundings& around, lane& by) {
  segment& into = *work.into;
  stretch_cutter cut(*around.cuts, *around.held, work.stretches);
  chain_cursor own(into.own);
  measure(by.at(stage::chunking), [&] {
    const std::uint64_t begin = into.bridge.next;
    while (into.bridge.next < into.end && !own.find(into.bridge.next)) {
      const auto step = cut(into.bridge.next);
      if (!step) break;
      if (step->is_chunk) into.bridge.chunks.push_back({into.bridge.next, step->next - into.bridge.next});
      into.bridge.next = step->next;
    }
    return into.bridge.next - begin;
  });
  return {};
}

/// Follows the true cuts through one segment.
class joiner {
 public:
  joiner(join_task& work, const task_surroundings& around)
      : work_(work),
        of_(*work.of),
        cut_(*around.cuts, *around.held, work.stretches, work.follows_candidates ? around.candidates : nullptr),
        own_(of_.own),
        bridge_(of_.bridge) {}

  /// Returns the bytes that were cut here.
  std::uint64_t follow() {
    std::uint64_t cut_bytes = 0;
    while (work_.frontier < of_.end) {
      if (adopt(of_.own, own_, of_.own_used_bytes)) continue;
      if (adopt(of_.bridge, bridge_, of_.bridge_used_bytes)) continue;
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
  stretch_cutter cut_;
  chain_cursor own_;
  chain_cursor bridge_;
};

/// P-Dedupe's join (section 3.3): the chunks on both sides of a forced cut are cut again as one stream that ends where
/// the second does. The last chunk before a forced cut is held back until the first after it has come.
void cut_boundaries_again(join_task& work, const task_surroundings& around) {
  std::vector<joined_chunk> joined;
  auto is_before_cut = [&, at = std::size_t{0}](std::uint64_t end) mutable {
    while (at < work.stretches.size() && work.stretches[at].end < end) ++at;
    return at < work.stretches.size() && work.stretches[at].end == end && work.stretches[at].how == stretch_end::cut;
  };
  for (const joined_chunk& next : work.joined) {
    const std::uint64_t end = next.where.offset + next.where.length;
    if (work.held && work.held->where.offset + work.held->where.length == next.where.offset) {
      const std::uint64_t begin = work.held->where.offset;
      for (const chunk& again : around.cuts->find_cuts(around.held->bytes(begin, end))) {
        joined.push_back({.where = {begin + again.offset, again.length}});
      }
      work.again_bytes += end - begin;
      for (const joined_chunk& c : {*work.held, next}) {
        if (c.is_fingerprinted) work.again_fingerprinted_bytes += c.where.length;
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

status run(join_task& work, const task_surroundings& around, lane& by) {
  measure(by.at(stage::joining), [&] {
    const std::uint64_t cut_bytes = joiner(work, around).follow();
    if (work.cuts_again) cut_boundaries_again(work, around);
    return cut_bytes + work.again_bytes;
  });
  return {};
}

status run(fingerprint_task& work, const task_surroundings& around, lane& by) {
  status outcome;
  measure(by.at(stage::fingerprinting), [&] {
    std::uint64_t bytes = 0;
    fingerprint_session session(*around.held, *by.fingerprints);
    for (const fingerprint_task::share& each : work.shares) {
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
  deliverer(deliver_task& work, const task_surroundings& around) : work_(work), around_(around) {}

  status deliver() {
    for (const stream_part& part : work_.parts) {
      if (status begun = begin(part); !begun.ok()) return begun;
      for (; next_ < work_.of->chunks.size() && work_.of->chunks[next_].where.offset < part.end; ++next_) {
        if (status taken = take(part, work_.of->chunks[next_]); !taken.ok()) return taken;
      }
      if (part.how == stretch_end::open || part.end > work_.of->end) return {};
      if (part.how == stretch_end::cut) continue;
      work_.state.has_begun = false;
      if (status ended = around_.receiver->end_stream(part.stream, part.outcome); !ended.ok()) return ended;
    }
    return {};
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  status begin(const stream_part& part) {
    if (part.continues || work_.state.has_begun) return {};
    work_.state = {.has_begun = true, .offset = 0};
    return around_.receiver->begin_stream(part.stream);
  }

  status take(const stream_part& part, const joined_chunk& c) {
    for (; work_.passed_runs < work_.runs.size() && work_.runs[work_.passed_runs].position <= c.where.offset;
         ++work_.passed_runs) {
      const taken_run& run = work_.runs[work_.passed_runs];
      const status taken = hand_over({.stream = part.stream,
                                      .offset = work_.state.offset,
                                      .length = run.period.length,
                                      .count = run.count,
                                      .fingerprint = run.period.fingerprint,
                                      .bytes = bytes_of(c.where.offset, run.period.length)});
      if (!taken.ok()) return taken;
    }
    return hand_over({.stream = part.stream,
                      .offset = work_.state.offset,
                      .length = c.where.length,
                      .fingerprint = c.fingerprint,
                      .bytes = bytes_of(c.where.offset, c.where.length)});
  }

  /// What was taken out was of the same byte as what stands there now.
  byte_span bytes_of(std::uint64_t begin, std::uint64_t length) const {
    return around_.held->bytes(begin, begin + length);
  }

  status hand_over(const fed_chunk& c) {
    work_.state.offset += c.length * c.count;
    bytes_ += c.length * c.count;
    return around_.receiver->take(c);
  }

  deliver_task& work_;
  const task_surroundings& around_;
  std::size_t next_ = 0;
  std::uint64_t bytes_ = 0;
};

status run(deliver_task& work, const task_surroundings& around, lane& by) {
  status outcome;
  measure(by.at(stage::delivery), [&] {
    deliverer batch(work, around);
    outcome = batch.deliver();
    return batch.bytes();
  });
  return outcome;
}

}  // namespace

void perform(task& taken, const task_surroundings& around, lane& by) {
  try {
    taken.outcome = std::visit([&](auto& work) { return run(work, around, by); }, taken.work);
  } catch (const std::bad_alloc&) {
    taken.outcome = out_of_memory();
  }
}

}  // namespace cutpoint
