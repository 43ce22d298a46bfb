// Exact parallel cutting: kernel bodies that cut the partitions of stream ranges, one warp each, and join their chains.
//
//   map     cuts each partition speculatively from its first byte on; the first of a stream range begins at the range's
//           start
//   join    moves each partition's start to the exit of the partition before it, and cuts from there until the chain meets
//           a speculative cut. This prefix replaces the chunks before that cut. Rounds for all partitions at once repeat
//           this until no partition changes
//   finish  joins the few partitions that are left (sequential_join_kernel), one after the other, by one warp
//   gather  writes the chunks of all partitions into one list
//
// After `finish` every partition begins at the exit of the one before it, and the first at its stream range's start. So all
// cuts are those of the sequential algorithm: the exact join (docs/architecture.md) as a fixed point.
#pragma once

#include "cuda/kernel/packed_bytes.h"

namespace cutpoint::cuda {

/// A byte range of a stream range that one warp cuts. It owns the chunks that begin in it.
struct partition {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t stream_range = 0;
  std::uint32_t is_first = 0;    ///< 1 if it begins at its stream range's start
  std::uint32_t first_slot = 0;  ///< its first slot in the lists of ends
  std::uint32_t slot_count = 0;  ///< number of chunks that it has slots for
};

/// The chain of chunks that a partition found speculatively from its first byte on.
struct speculative_chain {
  std::uint64_t exit = 0;  ///< begin of the next chunk
  std::uint32_t count = 0;
};

/// The chunks of a partition: `prefix_count` chunks from `start` on, then its speculative ones from `speculative_first` on.
struct partition_state {
  std::uint64_t start = 0;
  std::uint64_t exit =
      0;  ///< the start of the next partition, or the first undecided position if that is before its end
  std::uint32_t prefix_count = 0;
  std::uint32_t speculative_first = 0;
};

/// A partitioned batch, and the state of its partitions. Pointers are to the memory of the executor.
struct partitioned_batch {
  packed_bytes in;
  const stream_range* stream_ranges = nullptr;
  const partition* partitions = nullptr;  ///< in the order of positions, those of one stream range together
  std::uint32_t partition_count = 0;
  const std::uint32_t* used_partitions = nullptr;  ///< [1] the partitions that the batch has; null: `partition_count`
  std::uint32_t* speculative_ends =
      nullptr;  ///< ends of chunks relative to the partition's begin, in the partition's slots
  std::uint32_t* prefix_ends = nullptr;
  speculative_chain* speculative = nullptr;  ///< [partition_count]
  std::uint32_t* overflowed = nullptr;       ///< set to 1 if slots are too few; the chunks are then invalid
};

[[nodiscard]] CUTPOINT_DEVICE std::uint32_t used_partitions_of(const partitioned_batch& work) {
  return work.used_partitions == nullptr ? work.partition_count : *work.used_partitions;
}

template <class CutFinder>
struct cut_kernel_arguments : partitioned_batch {
  CutFinder cut_finder = {};
};

namespace cut_kernels_detail {

/// Runs `each(warp, k)` for every partition k, each by one warp of the grid.
template <class Block, class Each>
CUTPOINT_DEVICE void for_each_partition(Block& block, std::uint32_t partition_count, Each each) {
  const std::uint32_t warps = block.thread_count() / warp_size;
  block.for_each_warp([&](auto warp) {
    for (std::uint32_t k = block.index() * warps + warp.index(); k < partition_count; k += block.count() * warps) {
      each(warp, k);
    }
  });
}

template <class Warp, class T>
CUTPOINT_DEVICE void store(const Warp& warp, T* destination, const T& value) {
  warp.for_each_lane([&](std::uint32_t lane) {
    if (lane == 0) *destination = value;
  });
}

/// Cuts from `position` on until the partition's end, the first undecided position, or a position for which `meets` is true.
template <class CutFinder, class Warp, class Meets>
CUTPOINT_DEVICE std::uint64_t cut_until(const Warp& warp, const cut_kernel_arguments<CutFinder>& work,
                                        const partition& bounds, std::uint64_t position, std::uint32_t* ends,
                                        std::uint32_t& count, Meets meets) {
  const stream_range in = work.stream_ranges[bounds.stream_range];
  packed_bytes its_bytes = work.in;
  its_bytes.bytes = address_at(its_bytes.bytes, in.shift);
  while (position < bounds.end && !meets(position)) {
    if (in.ends == 0 && in.end - position < work.cut_finder.reach) break;
    if (count == bounds.slot_count) {
      store(warp, work.overflowed, std::uint32_t{1});
      break;
    }
    position = work.cut_finder.next_cut(warp, its_bytes, in, position);
    store(warp, ends + count++, static_cast<std::uint32_t>(position - bounds.begin));
  }
  return position;
}

/// The begin of speculative chunk `i` of a partition; if `i` is their count, the exit of the chain.
template <class CutFinder>
CUTPOINT_DEVICE std::uint64_t speculative_start(const cut_kernel_arguments<CutFinder>& work, const partition& bounds,
                                                std::uint32_t i) {
  return i == 0 ? bounds.begin : bounds.begin + work.speculative_ends[bounds.first_slot + i - 1];
}

/// Returns the state of partition `k` if its first chunk begins at `start`.
template <class CutFinder, class Warp>
CUTPOINT_DEVICE partition_state joined_at(const Warp& warp, const cut_kernel_arguments<CutFinder>& work,
                                          std::uint32_t k, std::uint64_t start) {
  const partition bounds = work.partitions[k];
  const std::uint32_t speculative_count = work.speculative[k].count;
  partition_state state{.start = start, .exit = start, .speculative_first = speculative_count};
  if (start < bounds.begin || start >= bounds.end)
    return state;         // undecided before it, or a chunk that covers all of it
  std::uint32_t met = 0;  // index of the first own chunk at or after the position
  const auto meets = [&](std::uint64_t position) {
    for (;;) {
      const std::uint32_t before = bit_count(warp.ballot([&](std::uint32_t lane) {
        return met + lane <= speculative_count && speculative_start(work, bounds, met + lane) < position;
      }));
      met += before;
      if (before < warp_size) break;
    }
    return met <= speculative_count && speculative_start(work, bounds, met) == position;
  };
  std::uint32_t* const prefix = work.prefix_ends + bounds.first_slot;
  state.exit = cut_until(warp, work, bounds, start, prefix, state.prefix_count, meets);
  if (state.exit < bounds.end && met <= speculative_count && speculative_start(work, bounds, met) == state.exit) {
    state.speculative_first = met;
    state.exit = work.speculative[k].exit;
  }
  return state;
}

}  // namespace cut_kernels_detail

/// Base of the kernels that give each partition a warp. `Arguments` is a partitioned batch.
template <class Arguments>
struct warp_per_partition {
  static constexpr std::uint32_t threads_per_block = 128;
  Arguments work;

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t each = threads / warp_size;
    return (work.partition_count + each - 1) / each;
  }
};

/// Cuts every partition speculatively from its first byte on.
template <class CutFinder>
struct map_partitions_kernel : warp_per_partition<cut_kernel_arguments<CutFinder>> {
  static constexpr std::uint32_t resident_blocks = 3;  // more would leave walking cut finders too few registers
  using warp_per_partition<cut_kernel_arguments<CutFinder>>::work;
  partition_state* states = nullptr;  ///< [partition_count], written

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace cut_kernels_detail;
    for_each_partition(block, used_partitions_of(work), [&](const auto& warp, std::uint32_t k) {
      const partition bounds = work.partitions[k];
      speculative_chain own;
      std::uint32_t* const ends = work.speculative_ends + bounds.first_slot;
      own.exit = cut_until(warp, work, bounds, bounds.begin, ends, own.count, [](std::uint64_t) { return false; });
      store(warp, work.speculative + k, own);
      store(warp, states + k, partition_state{.start = bounds.begin, .exit = own.exit});
    });
  }
};

/// One round of the join: each partition whose start differs from the exit of the one before it begins there instead.
template <class CutFinder>
struct join_kernel : warp_per_partition<cut_kernel_arguments<CutFinder>> {
  static constexpr std::uint32_t resident_blocks = 3;  // more would leave walking cut finders too few registers
  using warp_per_partition<cut_kernel_arguments<CutFinder>>::work;
  const partition_state* before = nullptr;  ///< [partition_count]
  partition_state* after = nullptr;         ///< [partition_count], written; not `before`
  std::uint32_t* changed = nullptr;         ///< set to 1 if a partition changed: another round is needed

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace cut_kernels_detail;
    for_each_partition(block, used_partitions_of(work), [&](const auto& warp, std::uint32_t k) {
      partition_state state = before[k];
      if (work.partitions[k].is_first == 0 && before[k - 1].exit != state.start) {
        state = joined_at(warp, work, k, before[k - 1].exit);
        store(warp, changed, std::uint32_t{1});
      }
      store(warp, after + k, state);
    });
  }
};

/// Joins the partitions that the rounds left, in order, by one warp.
template <class CutFinder>
struct sequential_join_kernel {
  static constexpr std::uint32_t threads_per_block = warp_size;
  cut_kernel_arguments<CutFinder> work;
  partition_state* states = nullptr;       ///< [partition_count], read and written
  const std::uint32_t* changed = nullptr;  ///< 0 if the last round changed no partition, and all are joined

  [[nodiscard]] static std::uint64_t blocks(std::uint32_t) { return 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace cut_kernels_detail;
    block.for_each_warp([&](auto warp) {
      if (block.index() != 0 || warp.index() != 0 || *changed == 0) return;
      const std::uint32_t partition_count = used_partitions_of(work);
      for (std::uint32_t k = 1; k < partition_count;) {
        const std::uint32_t unjoined = warp.ballot([&](std::uint32_t lane) {
          const std::uint32_t i = k + lane;
          return i < partition_count && work.partitions[i].is_first == 0 && states[i - 1].exit != states[i].start;
        });
        if (unjoined == 0) {
          k += warp_size;
          continue;
        }
        k += lowest_bit(unjoined);
        store(warp, states + k, joined_at(warp, work, k, states[k - 1].exit));
        warp.sync();
        ++k;
      }
    });
  }
};

/// Counts the chunks of each partition; 0 for a partition with too few slots, and for one that is not used.
struct count_chunks_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  partitioned_batch work;
  const partition_state* states = nullptr;
  std::uint32_t* counts = nullptr;  ///< [partition_count], written

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    return (std::uint64_t{work.partition_count} + threads - 1) / threads;
  }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const std::uint32_t used_partitions = used_partitions_of(work);
    block.for_each_thread([&](auto thread) {
      const std::uint32_t stride = block.count() * block.thread_count();
      std::uint32_t k = block.index() * block.thread_count() + thread.index();
      for (; k < work.partition_count; k += stride) {
        counts[k] = 0;
        if (k >= used_partitions) continue;
        const std::uint32_t count = states[k].prefix_count + (work.speculative[k].count - states[k].speculative_first);
        if (count > work.partitions[k].slot_count) {
          *work.overflowed = 1;
        } else {
          counts[k] = count;
        }
      }
    });
  }
};

/// Chunks in the order of positions.
struct chunk_list {
  std::uint64_t* begins = nullptr;   ///< [capacity] bytes after `packed_bytes::bytes`
  std::uint32_t* lengths = nullptr;  ///< [capacity]
  std::uint32_t* count = nullptr;    ///< one word
  std::uint64_t capacity = 0;
  std::uint64_t* offsets =
      nullptr;  ///< [capacity] bytes after the first byte of the chunk's stream; null if not wanted
};

/// Writes the chunks of all partitions, and lengths of 0 after the last. If they are more than the capacity, the count is 0.
struct gather_chunks_kernel : warp_per_partition<partitioned_batch> {
  const partition_state* states = nullptr;
  const std::uint32_t* firsts =
      nullptr;  ///< [partition_count + 1] prefix sum of the counts: index of each partition's first chunk
  chunk_list output;

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace cut_kernels_detail;
    for_each_partition(block, used_partitions_of(work), [&](const auto& warp, std::uint32_t k) {
      const partition_state state = states[k];
      const partition bounds = work.partitions[k];
      const std::uint32_t first = firsts[k];
      const std::uint32_t count = firsts[k + 1] - first;
      const stream_range range = work.stream_ranges[bounds.stream_range];
      const auto end_of = [&](std::uint32_t i) {
        return bounds.begin +
               (i < state.prefix_count
                    ? work.prefix_ends[bounds.first_slot + i]
                    : work.speculative_ends[bounds.first_slot + state.speculative_first + i - state.prefix_count]);
      };
      warp.for_each_lane([&](std::uint32_t lane) {
        for (std::uint32_t i = lane; i < count && first + i < output.capacity; i += warp_size) {
          const std::uint64_t begin = i == 0 ? state.start : end_of(i - 1);
          output.begins[first + i] = begin + range.shift;
          output.lengths[first + i] = static_cast<std::uint32_t>(end_of(i) - begin);
          if (output.offsets != nullptr) output.offsets[first + i] = begin - range.start;
        }
      });
    });
    const std::uint32_t all = firsts[work.partition_count];
    block.for_each_thread([&](auto thread) {
      const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
      const std::uint64_t number = std::uint64_t{block.index()} * block.thread_count() + thread.index();
      for (std::uint64_t i = all + number; i < output.capacity; i += stride) output.lengths[i] = 0;
      if (number != 0) return;
      *output.count = all <= output.capacity ? all : 0;
      if (all > output.capacity) *work.overflowed = 1;
    });
  }
};

}  // namespace cutpoint::cuda
