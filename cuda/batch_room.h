// The memory that batches need on a machine, taken once, and the table of their slices.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "cuda/offload.h"
#include "cuda/return_if_failed.h"
#include "cuda/slicer.h"

namespace cutpoint::cuda {

/// How long slices are, and how many chunks a batch may have.
struct slice_plan {
  std::uint64_t slice_bytes = 0;
  std::uint64_t least_chunk = 0;
  std::uint64_t most_slices = 0;
  std::uint64_t most_chunks = 0;
};

/// Chunks of fewer bytes are so rare that a batch with many of them may be refused.
inline constexpr std::uint64_t least_usual_chunk = 64;

[[nodiscard]] inline slice_plan slice_plan_for(const scheme_sizes& sizes, const batch_limits& limits) {
  const slicing_tuning tuning;
  const std::uint64_t wanted = tuning.meetings * sizes.meeting_chunks * sizes.usual_chunk;
  slice_plan how;
  how.slice_bytes = std::max<std::uint64_t>(wanted, tuning.least_bytes);
  how.least_chunk = std::max(sizes.least_chunk, least_usual_chunk);
  how.most_slices = limits.pieces + limits.bytes / how.slice_bytes + 1;
  how.most_chunks = limits.bytes / how.least_chunk + 2 * how.most_slices;
  return how;
}

/// The slices of pieces, with their rows.
inline void append_slices(const slice_plan& how, const piece& of, std::uint32_t number, std::vector<slice>& into) {
  assert(of.start < of.stop && of.stop <= of.end);
  std::uint32_t row = into.empty() ? 0 : into.back().row + into.back().room;
  for (std::uint64_t begin = of.start; begin < of.stop; begin += how.slice_bytes) {
    const std::uint64_t end = std::min(begin + how.slice_bytes, of.stop);
    const auto room = static_cast<std::uint32_t>((end - begin) / how.least_chunk + 2);
    into.push_back({.begin = begin,
                    .end = end,
                    .piece = number,
                    .is_first = begin == of.start ? std::uint32_t{1} : std::uint32_t{0},
                    .row = row,
                    .room = room});
    row += room;
  }
}

/// Chunks on a machine: what is found in a batch, or known of it.
template <class Machine>
struct chunk_room {
  template <class T>
  using array = typename Machine::template array<T>;

  array<std::uint64_t> begins;
  array<std::uint32_t> lengths;
  array<std::uint32_t> count;

  [[nodiscard]] static result<chunk_room> allocate(Machine& on, std::uint64_t most_chunks) {
    chunk_room room;
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint64_t>(most_chunks), room.begins));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(most_chunks), room.lengths));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(1), room.count));
    return result<chunk_room>(std::move(room));
  }

  [[nodiscard]] chunk_list list() const { return {begins.data(), lengths.data(), count.data()}; }
};

/// What cutting a batch needs on a machine beside its bytes.
template <class Machine>
struct batch_room {
  template <class T>
  using array = typename Machine::template array<T>;

  array<std::uint64_t> candidates;
  array<piece> pieces;
  array<slice> slices;
  array<std::uint32_t> own_ends;
  array<std::uint32_t> prefix_ends;
  array<own_chain> own;
  array<slice_state> states;  ///< two rounds of them
  array<std::uint32_t> counts;
  array<std::uint32_t> firsts;
  array<std::uint32_t> overflowed;
  array<std::uint32_t> changed;

  [[nodiscard]] static result<batch_room> allocate(Machine& on, const slice_plan& how, const batch_limits& limits,
                                                   std::uint32_t levels) {
    batch_room room;
    CUTPOINT_RETURN_IF_FAILED(keep(
        on.template allocate<std::uint64_t>(levels * packed_bytes::candidate_words(limits.bytes)), room.candidates));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<piece>(limits.pieces), room.pieces));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<slice>(how.most_slices), room.slices));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(how.most_chunks), room.own_ends));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(how.most_chunks), room.prefix_ends));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<own_chain>(how.most_slices), room.own));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<slice_state>(2 * how.most_slices), room.states));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(how.most_slices), room.counts));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(how.most_slices + 1), room.firsts));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(1), room.overflowed));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(1), room.changed));
    return result<batch_room>(std::move(room));
  }

  /// `in` has no candidates yet.
  [[nodiscard]] slice_job job(packed_bytes in, std::uint32_t slice_count, const chunk_list& chunks) const {
    in.candidates = candidates.data();
    in.words = packed_bytes::candidate_words(in.byte_count);
    return {.batch = {.in = in,
                      .pieces = pieces.data(),
                      .slices = slices.data(),
                      .slice_count = slice_count,
                      .own_ends = own_ends.data(),
                      .prefix_ends = prefix_ends.data(),
                      .own = own.data(),
                      .overflowed = overflowed.data()},
            .states = {states.data(), states.data() + slice_count},
            .counts = counts.data(),
            .firsts = firsts.data(),
            .changed = changed.data(),
            .chunks = chunks};
  }
};

}  // namespace cutpoint::cuda
