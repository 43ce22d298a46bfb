// Cutting in parallel and exactly: kernel bodies that cut pieces in slices, one warp each, and join what they find.
//
//   map     each slice is cut from its first byte on, on speculation; the first of a piece from the piece's start
//   settle  each slice takes the place where the one before it went on, and cuts from there until it meets a cut of its
//           own: what it had before is replaced by this prefix. Rounds of it, all slices at once, until none changes
//   finish  the rare rest, slice after slice, by one warp
//   gather  the chunks of all slices in one list
//
// After `finish` every slice begins where the one before it went on, and the first at its piece's start: so all cuts
// are those of the sequential algorithm (the exact join of the specification, as a fixed point).
#pragma once

#include "cuda/packed.h"

namespace cutpoint::cuda {

/// A part of a piece, cut by one warp: the chunks that begin in it are its own.
struct slice {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t piece = 0;
  std::uint32_t is_first = 0;  ///< 1: begins at its piece's start
  std::uint32_t row = 0;       ///< its place in the lists of ends
  std::uint32_t room = 0;      ///< and how many chunks there is room for
};

/// What a slice found from its first byte on.
struct own_chain {
  std::uint64_t exit = 0;  ///< where it would go on
  std::uint32_t count = 0;
};

/// Where a slice stands: `prefix_count` chunks from `start` on, then its own from number `own_first` on.
struct slice_state {
  std::uint64_t start = 0;
  std::uint64_t exit = 0;  ///< where the slice after it begins, or, before this one's end, what is undecided
  std::uint32_t prefix_count = 0;
  std::uint32_t own_first = 0;
};

/// A sliced batch, and what is known of its slices. Pointers are to the memory of whoever runs the kernels.
struct slice_batch {
  packed_bytes in;
  const piece* pieces = nullptr;
  const slice* slices = nullptr;  ///< in the order of positions, those of a piece in a row
  std::uint32_t slice_count = 0;
  std::uint32_t* own_ends = nullptr;  ///< ends of chunks, counted from the slice's beginning, in the slice's row
  std::uint32_t* prefix_ends = nullptr;
  own_chain* own = nullptr;             ///< [slice_count]
  std::uint32_t* overflowed = nullptr;  ///< set to 1 where there is no room: the chunks are then worth nothing
};

/// What the kernels here work on.
template <class Cutter>
struct slice_work : slice_batch {
  Cutter cutter = {};
};

namespace slices_detail {

/// Runs `each(warp, k)` for every slice, a warp of the grid each.
template <class Block, class Each>
CUTPOINT_DEVICE void for_each_slice(Block& block, std::uint32_t slice_count, Each each) {
  const std::uint32_t warps = block.thread_count() / warp_size;
  block.for_each_warp([&](auto warp) {
    for (std::uint32_t k = block.index() * warps + warp.index(); k < slice_count; k += block.count() * warps) {
      each(warp, k);
    }
  });
}

template <class Warp, class T>
CUTPOINT_DEVICE void store(const Warp& warp, T* to, const T& value) {
  warp.for_each_lane([&](std::uint32_t lane) {
    if (lane == 0) *to = value;
  });
}

/// Cuts from `position` on to the slice's end, to where nothing is decided, or to where `meets(position)`.
template <class Cutter, class Warp, class Meets>
CUTPOINT_DEVICE std::uint64_t follow(const Warp& warp, const slice_work<Cutter>& work, const slice& of,
                                     std::uint64_t position, std::uint32_t* ends, std::uint32_t& count, Meets meets) {
  const piece in = work.pieces[of.piece];
  while (position < of.end && !meets(position)) {
    if (in.ends == 0 && in.end - position < work.cutter.reach) break;
    if (count == of.room) {
      store(warp, work.overflowed, std::uint32_t{1});
      break;
    }
    position = work.cutter.cut(warp, work.in, in, position);
    store(warp, ends + count++, static_cast<std::uint32_t>(position - of.begin));
  }
  return position;
}

/// Where a slice's own chunk number `i` begins; for their count, its own exit.
template <class Cutter>
CUTPOINT_DEVICE std::uint64_t own_start(const slice_work<Cutter>& work, const slice& of, std::uint32_t i) {
  return i == 0 ? of.begin : of.begin + work.own_ends[of.row + i - 1];
}

/// The state of slice `k` if chunks go on at `start`.
template <class Cutter, class Warp>
CUTPOINT_DEVICE slice_state settled(const Warp& warp, const slice_work<Cutter>& work, std::uint32_t k,
                                    std::uint64_t start) {
  const slice of = work.slices[k];
  const std::uint32_t own_count = work.own[k].count;
  slice_state state{.start = start, .exit = start, .own_first = own_count};
  if (start < of.begin || start >= of.end) return state;  // undecided before it, or a chunk that passes it whole
  std::uint32_t met = 0;                                  // own chunks before this one begin before the position
  const auto meets = [&](std::uint64_t position) {
    for (;;) {
      const std::uint32_t before = bit_count(warp.ballot(
          [&](std::uint32_t lane) { return met + lane <= own_count && own_start(work, of, met + lane) < position; }));
      met += before;
      if (before < warp_size) break;
    }
    return met <= own_count && own_start(work, of, met) == position;
  };
  std::uint32_t* const prefix = work.prefix_ends + of.row;
  state.exit = follow(warp, work, of, start, prefix, state.prefix_count, meets);
  if (state.exit < of.end && met <= own_count && own_start(work, of, met) == state.exit) {
    state.own_first = met;
    state.exit = work.own[k].exit;
  }
  return state;
}

}  // namespace slices_detail

/// What the kernels share that give each slice a warp.
template <class Cutter>
struct warp_per_slice {
  static constexpr std::uint32_t threads_per_block = 128;
  slice_work<Cutter> work;

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t each = threads / warp_size;
    return (work.slice_count + each - 1) / each;
  }
};

/// Cuts every slice from its first byte on.
template <class Cutter>
struct map_kernel : warp_per_slice<Cutter> {
  static constexpr std::uint32_t resident_blocks = 3;  // more would leave walking cutters too few registers
  using warp_per_slice<Cutter>::work;
  slice_state* states = nullptr;  ///< [slice_count], written

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace slices_detail;
    for_each_slice(block, work.slice_count, [&](const auto& warp, std::uint32_t k) {
      const slice of = work.slices[k];
      own_chain own;
      std::uint32_t* const ends = work.own_ends + of.row;
      own.exit = follow(warp, work, of, of.begin, ends, own.count, [](std::uint64_t) { return false; });
      store(warp, work.own + k, own);
      store(warp, states + k, slice_state{.start = of.begin, .exit = own.exit});
    });
  }
};

/// One round: where the slice before went on elsewhere than this one began, this one begins there.
template <class Cutter>
struct settle_kernel : warp_per_slice<Cutter> {
  static constexpr std::uint32_t resident_blocks = 3;  // more would leave walking cutters too few registers
  using warp_per_slice<Cutter>::work;
  const slice_state* before = nullptr;  ///< [slice_count]
  slice_state* after = nullptr;         ///< [slice_count], written; not `before`
  std::uint32_t* changed = nullptr;  ///< set to 1 where a slice does not stay as it was: then it is not the last round

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace slices_detail;
    for_each_slice(block, work.slice_count, [&](const auto& warp, std::uint32_t k) {
      slice_state state = before[k];
      if (work.slices[k].is_first == 0 && before[k - 1].exit != state.start) {
        state = settled(warp, work, k, before[k - 1].exit);
        store(warp, changed, std::uint32_t{1});
      }
      store(warp, after + k, state);
    });
  }
};

/// What rounds left, in order, by one warp.
template <class Cutter>
struct finish_kernel {
  static constexpr std::uint32_t threads_per_block = warp_size;
  slice_work<Cutter> work;
  slice_state* states = nullptr;           ///< [slice_count], read and written
  const std::uint32_t* changed = nullptr;  ///< 0: the last round changed nothing, so nothing is left

  [[nodiscard]] static std::uint64_t blocks(std::uint32_t) { return 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace slices_detail;
    block.for_each_warp([&](auto warp) {
      if (block.index() != 0 || warp.index() != 0 || *changed == 0) return;
      for (std::uint32_t k = 1; k < work.slice_count;) {
        const std::uint32_t unsettled = warp.ballot([&](std::uint32_t lane) {
          const std::uint32_t i = k + lane;
          return i < work.slice_count && work.slices[i].is_first == 0 && states[i - 1].exit != states[i].start;
        });
        if (unsettled == 0) {
          k += warp_size;
          continue;
        }
        k += lowest_bit(unsettled);
        store(warp, states + k, settled(warp, work, k, states[k - 1].exit));
        warp.sync();
        ++k;
      }
    });
  }
};

/// Chunks of each slice; none where they have no room.
struct count_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  const slice* slices = nullptr;
  const slice_state* states = nullptr;
  const own_chain* own = nullptr;
  std::uint32_t slice_count = 0;
  std::uint32_t* counts = nullptr;      ///< [slice_count], written
  std::uint32_t* overflowed = nullptr;  ///< as in `slice_batch`

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    return (std::uint64_t{slice_count} + threads - 1) / threads;
  }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    block.for_each_thread([&](auto thread) {
      const std::uint32_t stride = block.count() * block.thread_count();
      for (std::uint32_t k = block.index() * block.thread_count() + thread.index(); k < slice_count; k += stride) {
        const std::uint32_t count = states[k].prefix_count + (own[k].count - states[k].own_first);
        counts[k] = count <= slices[k].room ? count : 0;
        if (count > slices[k].room) *overflowed = 1;
      }
    });
  }
};

/// Chunks in the order of positions.
struct chunk_list {
  std::uint64_t* begins = nullptr;
  std::uint32_t* lengths = nullptr;
  std::uint32_t* count = nullptr;  ///< one word
};

/// Writes the chunks of all slices.
template <class Cutter>
struct gather_kernel : warp_per_slice<Cutter> {
  using warp_per_slice<Cutter>::work;
  const slice_state* states = nullptr;
  const std::uint32_t* firsts = nullptr;  ///< [slice_count + 1] running sum of the counts: where a slice's chunks go
  chunk_list to;

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace slices_detail;
    for_each_slice(block, work.slice_count, [&](const auto& warp, std::uint32_t k) {
      const slice_state state = states[k];
      const slice of = work.slices[k];
      const std::uint32_t first = firsts[k];
      const std::uint32_t count = firsts[k + 1] - first;
      const auto end_of = [&](std::uint32_t i) {
        return of.begin + (i < state.prefix_count ? work.prefix_ends[of.row + i]
                                                  : work.own_ends[of.row + state.own_first + i - state.prefix_count]);
      };
      warp.for_each_lane([&](std::uint32_t lane) {
        for (std::uint32_t i = lane; i < count; i += warp_size) {
          const std::uint64_t from = i == 0 ? state.start : end_of(i - 1);
          to.begins[first + i] = from;
          to.lengths[first + i] = static_cast<std::uint32_t>(end_of(i) - from);
        }
        if (k + 1 == work.slice_count && lane == 0) *to.count = firsts[k + 1];
      });
    });
  }
};

}  // namespace cutpoint::cuda
