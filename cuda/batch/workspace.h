// The memory that batches need on an executor, and the table of their partitions.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cutpoint/status.h>

#include "cuda/batch/offload.h"
#include "cuda/cut/cut_launcher.h"

namespace cutpoint::cuda {

// The two ways in which a workspace gets its arrays: each allocated apart, or all laid out in one piece of memory. Both have
// `add<T>(count)`, which returns an uninitialised array of a trivial type.

/// Arrays that are allocated on an executor one by one, so that a kernel that leaves its array is found. They are freed with
/// this object.
template <class Executor>
class allocated_arrays {
 public:
  /// Allocates on the executor while it exists. After a failure nothing more is allocated.
  class allocator {
   public:
    allocator(Executor& executor, allocated_arrays& all) : executor_(executor), all_(all) {}

    template <class T>
    [[nodiscard]] T* add(std::size_t count) {
      if (!outcome_.ok()) return nullptr;
      auto memory = executor_.template allocate<std::uint8_t>(count * sizeof(T));
      if (!memory) {
        static_cast<void>(outcome_ = memory.error());  // nvcc warns of the value of a nodiscard type
        return nullptr;
      }
      return reinterpret_cast<T*>(all_.arrays_.emplace_back(std::move(*memory)).data());
    }
    /// The first failure. All arrays are null from then on.
    [[nodiscard]] const status& outcome() const { return outcome_; }

   private:
    Executor& executor_;
    allocated_arrays& all_;
    status outcome_;
  };

 private:
  std::vector<typename Executor::template array<std::uint8_t>> arrays_;
};

/// Arrays that follow each other in one piece of memory, which belongs to the caller. Without memory it says how many bytes
/// they take, and all arrays are null.
class array_layout {
 public:
  /// Of the memory, and of each array.
  static constexpr std::size_t alignment = 256;

  explicit array_layout(void* memory = nullptr) : memory_(static_cast<std::uint8_t*>(memory)) {}

  template <class T>
  [[nodiscard]] T* add(std::size_t count) {
    const std::size_t begin = (byte_count_ + alignment - 1) / alignment * alignment;
    byte_count_ = begin + count * sizeof(T);
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + begin);
  }
  [[nodiscard]] std::size_t byte_count() const { return byte_count_; }

 private:
  std::uint8_t* memory_;
  std::size_t byte_count_ = 0;
};

/// The length of partitions, the most partitions and chunks of a batch, and the rounds of the join.
struct partition_plan {
  std::uint64_t partition_bytes = 0;
  std::uint64_t min_chunk_bytes = 0;
  std::uint64_t max_partitions = 0;
  std::uint64_t max_chunks = 0;
  std::uint32_t rounds = 1;  ///< of the join
};

/// A batch with many chunks of fewer bytes may be refused, since such chunks are rare.
inline constexpr std::uint64_t min_supported_chunk_bytes = 64;

[[nodiscard]] inline partition_plan plan_partitions(const chunk_estimates& sizes, const batch_limits& limits) {
  const partition_tuning tuning;
  const std::uint64_t resync_bytes = sizes.resync_chunks * sizes.typical_chunk_bytes;
  const std::uint64_t wanted =
      std::clamp(limits.bytes / tuning.busy_partitions, resync_bytes, tuning.resync_multiple * resync_bytes);
  partition_plan plan;
  plan.partition_bytes = std::max<std::uint64_t>(wanted, tuning.min_partition_bytes);
  const std::uint64_t rounds =
      (tuning.rounds_multiple * resync_bytes + plan.partition_bytes - 1) / plan.partition_bytes;
  plan.rounds = std::max(static_cast<std::uint32_t>(rounds), tuning.min_rounds);
  plan.min_chunk_bytes = std::max(sizes.min_chunk_bytes, min_supported_chunk_bytes);
  plan.max_partitions = limits.stream_ranges + limits.bytes / plan.partition_bytes + 1;
  plan.max_chunks = limits.bytes / plan.min_chunk_bytes + 2 * plan.max_partitions;
  return plan;
}

/// Slots of a partition of so many bytes.
[[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t slots_of(std::uint64_t partition_bytes,
                                                          std::uint64_t min_chunk_bytes) {
  return static_cast<std::uint32_t>(partition_bytes / min_chunk_bytes + 2);
}

/// Appends the partitions of a stream range, with their slots.
inline void append_partitions(const partition_plan& plan, const stream_range& range, std::uint32_t number,
                              std::vector<partition>& partitions) {
  assert(range.start < range.stop && range.stop <= range.end);
  std::uint32_t first_slot = partitions.empty() ? 0 : partitions.back().first_slot + partitions.back().slot_count;
  for (std::uint64_t begin = range.start; begin < range.stop; begin += plan.partition_bytes) {
    const std::uint64_t end = std::min(begin + plan.partition_bytes, range.stop);
    const std::uint32_t slot_count = slots_of(end - begin, plan.min_chunk_bytes);
    partitions.push_back({.begin = begin,
                          .end = end,
                          .stream_range = number,
                          .is_first = begin == range.start ? std::uint32_t{1} : std::uint32_t{0},
                          .first_slot = first_slot,
                          .slot_count = slot_count});
    first_slot += slot_count;
  }
}

/// Chunks of a batch on an executor, found or known, in one array so that one copy brings known chunks.
struct chunk_workspace {
  std::uint8_t* bytes = nullptr;
  std::uint64_t slots = 0;

  [[nodiscard]] static constexpr std::size_t size_for(std::uint64_t slots) {
    return slots * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) + sizeof(std::uint32_t);
  }
  template <class Memory>
  [[nodiscard]] static chunk_workspace lay_out(Memory& memory, std::uint64_t slots) {
    return {.bytes = memory.template add<std::uint8_t>(size_for(slots)), .slots = slots};
  }

  /// The begins of so many chunks, then their lengths, then their number.
  [[nodiscard]] static chunk_list list_in(std::uint8_t* bytes, std::uint64_t slots) {
    auto* const begins = reinterpret_cast<std::uint64_t*>(bytes);
    auto* const lengths = reinterpret_cast<std::uint32_t*>(begins + slots);
    return {.begins = begins, .lengths = lengths, .count = lengths + slots, .capacity = slots};
  }
};

/// Words in one array, so that one call clears those that kernels count in, and one copy brings all to the host.
struct counter_words {
  static constexpr std::size_t overflowed = 0;
  static constexpr std::size_t chunk_count = 1;
  static constexpr std::size_t changed = 2;  ///< of each round
  std::uint32_t rounds = 1;

  /// The index of the number of chunks of the first partition. The words before it are cleared.
  [[nodiscard]] std::size_t counts() const { return changed + rounds; }
};

/// Memory on an executor for cutting a batch, without its bytes.
struct cut_workspace {
  std::uint64_t* candidates = nullptr;
  std::uint8_t* description = nullptr;  ///< stream ranges, then partitions, so that one copy brings them
  std::uint64_t description_bytes = 0;
  std::uint32_t* speculative_ends = nullptr;
  std::uint32_t* prefix_ends = nullptr;
  speculative_chain* speculative = nullptr;
  partition_state* states = nullptr;  ///< of two rounds
  std::uint32_t* firsts = nullptr;
  std::uint32_t* counters = nullptr;
  counter_words words = {};

  [[nodiscard]] static std::size_t description_size(std::uint64_t stream_ranges, std::uint64_t partitions) {
    return stream_ranges * sizeof(stream_range) + partitions * sizeof(partition);
  }
  /// `candidate_words` are those of all levels.
  template <class Memory>
  [[nodiscard]] static cut_workspace lay_out(Memory& memory, const partition_plan& plan, std::uint64_t stream_ranges,
                                             std::uint64_t candidate_words) {
    cut_workspace all;
    all.words.rounds = plan.rounds;
    all.candidates = memory.template add<std::uint64_t>(candidate_words);
    all.description_bytes = description_size(stream_ranges, plan.max_partitions);
    all.description = memory.template add<std::uint8_t>(all.description_bytes);
    all.speculative_ends = memory.template add<std::uint32_t>(plan.max_chunks);
    all.prefix_ends = memory.template add<std::uint32_t>(plan.max_chunks);
    all.speculative = memory.template add<speculative_chain>(plan.max_partitions);
    all.states = memory.template add<partition_state>(2 * plan.max_partitions);
    all.firsts = memory.template add<std::uint32_t>(plan.max_partitions + 1);
    all.counters = memory.template add<std::uint32_t>(all.words.counts() + plan.max_partitions);
    return all;
  }

  /// Clears what the batches do not write. Memory that nothing else uses needs it once.
  template <class Executor>
  [[nodiscard]] status clear_once(Executor& executor) const {
    return executor.clear(firsts, 1);
  }
  /// Clears what the kernels count in.
  template <class Executor>
  [[nodiscard]] status clear_counters(Executor& executor) const {
    return executor.clear(counters, words.counts());
  }

  [[nodiscard]] stream_range* stream_ranges() const { return reinterpret_cast<stream_range*>(description); }
  /// They follow `stream_range_count` stream ranges.
  [[nodiscard]] partition* partitions(std::uint64_t stream_range_count) const {
    return reinterpret_cast<partition*>(stream_ranges() + stream_range_count);
  }

  /// The arguments for cutting `in`, which has no candidates yet.
  [[nodiscard]] cut_launch_arguments job(packed_bytes in, std::uint64_t stream_range_count,
                                         std::uint32_t partition_count, const chunk_list& chunks) const {
    in.candidates = candidates;
    in.words = packed_bytes::candidate_words(in.byte_count);
    return {.batch = {.in = in,
                      .stream_ranges = stream_ranges(),
                      .partitions = partitions(stream_range_count),
                      .partition_count = partition_count,
                      .speculative_ends = speculative_ends,
                      .prefix_ends = prefix_ends,
                      .speculative = speculative,
                      .overflowed = counters + counter_words::overflowed},
            .states = {states, states + partition_count},
            .counts = counters + words.counts(),
            .firsts = firsts,
            .changed = counters + counter_words::changed,
            .chunks = chunks,
            .rounds = words.rounds};
  }
};

}  // namespace cutpoint::cuda
