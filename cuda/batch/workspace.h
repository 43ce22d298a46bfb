// The memory that batches need on an executor, and the table of their partitions.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "cuda/batch/offload.h"
#include "cuda/cut/cut_launcher.h"
#include "cuda/kernel/return_if_failed.h"

namespace cutpoint::cuda {

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

/// Appends the partitions of a stream range, with their slots.
inline void append_partitions(const partition_plan& plan, const stream_range& range, std::uint32_t number,
                              std::vector<partition>& partitions) {
  assert(range.start < range.stop && range.stop <= range.end);
  std::uint32_t first_slot = partitions.empty() ? 0 : partitions.back().first_slot + partitions.back().slot_count;
  for (std::uint64_t begin = range.start; begin < range.stop; begin += plan.partition_bytes) {
    const std::uint64_t end = std::min(begin + plan.partition_bytes, range.stop);
    const auto slot_count = static_cast<std::uint32_t>((end - begin) / plan.min_chunk_bytes + 2);
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
template <class Executor>
struct chunk_workspace {
  typename Executor::template array<std::uint8_t> bytes;

  [[nodiscard]] static constexpr std::size_t size_for(std::uint64_t slots) {
    return slots * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) + sizeof(std::uint32_t);
  }
  [[nodiscard]] static result<chunk_workspace> allocate(Executor& executor, std::uint64_t slots) {
    chunk_workspace workspace;
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint8_t>(size_for(slots)), workspace.bytes));
    return result<chunk_workspace>(std::move(workspace));
  }

  /// The begins of so many chunks, then their lengths, then their number.
  [[nodiscard]] static chunk_list list_in(std::uint8_t* bytes, std::uint64_t slots) {
    auto* const begins = reinterpret_cast<std::uint64_t*>(bytes);
    auto* const lengths = reinterpret_cast<std::uint32_t*>(begins + slots);
    return {.begins = begins, .lengths = lengths, .count = lengths + slots};
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
template <class Executor>
struct cut_workspace {
  template <class T>
  using array = typename Executor::template array<T>;

  array<std::uint64_t> candidates;
  array<std::uint8_t> description;  ///< stream ranges, then partitions, so that one copy brings them
  array<std::uint32_t> speculative_ends;
  array<std::uint32_t> prefix_ends;
  array<speculative_chain> speculative;
  array<partition_state> states;  ///< of two rounds
  array<std::uint32_t> firsts;
  array<std::uint32_t> counters;
  counter_words words;

  [[nodiscard]] static std::size_t description_size(std::uint64_t stream_ranges, std::uint64_t partitions) {
    return stream_ranges * sizeof(stream_range) + partitions * sizeof(partition);
  }
  [[nodiscard]] static result<cut_workspace> allocate(Executor& executor, const partition_plan& plan,
                                                      const batch_limits& limits, std::uint32_t levels) {
    cut_workspace workspace;
    workspace.words.rounds = plan.rounds;
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint64_t>(levels * packed_bytes::candidate_words(limits.bytes)),
                     workspace.candidates));
    CUTPOINT_RETURN_IF_FAILED(store_result(
        executor.template allocate<std::uint8_t>(description_size(limits.stream_ranges, plan.max_partitions)),
        workspace.description));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_chunks), workspace.speculative_ends));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_chunks), workspace.prefix_ends));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<speculative_chain>(plan.max_partitions), workspace.speculative));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<partition_state>(2 * plan.max_partitions), workspace.states));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_partitions + 1), workspace.firsts));
    CUTPOINT_RETURN_IF_FAILED(executor.clear(workspace.firsts.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(store_result(
        executor.template allocate<std::uint32_t>(workspace.words.counts() + plan.max_partitions), workspace.counters));
    return result<cut_workspace>(std::move(workspace));
  }

  /// Clears what the kernels count in.
  [[nodiscard]] status clear_counters(Executor& executor) const {
    return executor.clear(counters.data(), words.counts());
  }

  /// The arguments for cutting `in`, which has no candidates yet.
  [[nodiscard]] cut_launch_arguments job(packed_bytes in, std::uint64_t stream_range_count,
                                         std::uint32_t partition_count, const chunk_list& chunks) const {
    in.candidates = candidates.data();
    in.words = packed_bytes::candidate_words(in.byte_count);
    const auto* const stream_ranges = reinterpret_cast<const stream_range*>(description.data());
    return {.batch = {.in = in,
                      .stream_ranges = stream_ranges,
                      .partitions = reinterpret_cast<const partition*>(stream_ranges + stream_range_count),
                      .partition_count = partition_count,
                      .speculative_ends = speculative_ends.data(),
                      .prefix_ends = prefix_ends.data(),
                      .speculative = speculative.data(),
                      .overflowed = counters.data() + counter_words::overflowed},
            .states = {states.data(), states.data() + partition_count},
            .counts = counters.data() + words.counts(),
            .firsts = firsts.data(),
            .changed = counters.data() + counter_words::changed,
            .chunks = chunks,
            .rounds = words.rounds};
  }
};

}  // namespace cutpoint::cuda
