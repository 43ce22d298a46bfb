// The memory that batches need on an executor, and the table of their partitions.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "cuda/batch/offload.h"
#include "cuda/cut/cut_launcher.h"
#include "cuda/return_if_failed.h"

namespace cutpoint::cuda {

/// The length of partitions, and the most partitions and chunks of a batch.
struct partition_plan {
  std::uint64_t partition_bytes = 0;
  std::uint64_t min_chunk_bytes = 0;
  std::uint64_t max_partitions = 0;
  std::uint64_t max_chunks = 0;
};

/// A batch with many chunks of fewer bytes may be refused, since such chunks are rare.
inline constexpr std::uint64_t min_supported_chunk_bytes = 64;

[[nodiscard]] inline partition_plan plan_partitions(const chunk_estimates& sizes, const batch_limits& limits) {
  const partition_tuning tuning;
  const std::uint64_t wanted = tuning.resync_multiple * sizes.resync_chunks * sizes.typical_chunk_bytes;
  partition_plan plan;
  plan.partition_bytes = std::max<std::uint64_t>(wanted, tuning.min_partition_bytes);
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

/// Chunks of a batch on an executor, found or known.
template <class Executor>
struct chunk_workspace {
  template <class T>
  using array = typename Executor::template array<T>;

  array<std::uint64_t> begins;
  array<std::uint32_t> lengths;
  array<std::uint32_t> count;

  [[nodiscard]] static result<chunk_workspace> allocate(Executor& executor, std::uint64_t max_chunks) {
    chunk_workspace workspace;
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint64_t>(max_chunks), workspace.begins));
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint32_t>(max_chunks), workspace.lengths));
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint32_t>(1), workspace.count));
    return result<chunk_workspace>(std::move(workspace));
  }

  [[nodiscard]] chunk_list list() const { return {begins.data(), lengths.data(), count.data()}; }
};

/// Memory on an executor for cutting a batch, without its bytes.
template <class Executor>
struct cut_workspace {
  template <class T>
  using array = typename Executor::template array<T>;

  array<std::uint64_t> candidates;
  array<stream_range> stream_ranges;
  array<partition> partitions;
  array<std::uint32_t> speculative_ends;
  array<std::uint32_t> prefix_ends;
  array<speculative_chain> speculative;
  array<partition_state> states;  ///< of two rounds
  array<std::uint32_t> counts;
  array<std::uint32_t> firsts;
  array<std::uint32_t> overflowed;
  array<std::uint32_t> changed;

  [[nodiscard]] static result<cut_workspace> allocate(Executor& executor, const partition_plan& plan,
                                                      const batch_limits& limits, std::uint32_t levels) {
    cut_workspace workspace;
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint64_t>(levels * packed_bytes::candidate_words(limits.bytes)),
                     workspace.candidates));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<stream_range>(limits.stream_ranges), workspace.stream_ranges));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<partition>(plan.max_partitions), workspace.partitions));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_chunks), workspace.speculative_ends));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_chunks), workspace.prefix_ends));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<speculative_chain>(plan.max_partitions), workspace.speculative));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<partition_state>(2 * plan.max_partitions), workspace.states));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_partitions), workspace.counts));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(plan.max_partitions + 1), workspace.firsts));
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint32_t>(1), workspace.overflowed));
    CUTPOINT_RETURN_IF_FAILED(store_result(executor.template allocate<std::uint32_t>(1), workspace.changed));
    return result<cut_workspace>(std::move(workspace));
  }

  /// The arguments for cutting `in`, which has no candidates yet.
  [[nodiscard]] cut_launch_arguments job(packed_bytes in, std::uint32_t partition_count,
                                         const chunk_list& chunks) const {
    in.candidates = candidates.data();
    in.words = packed_bytes::candidate_words(in.byte_count);
    return {.batch = {.in = in,
                      .stream_ranges = stream_ranges.data(),
                      .partitions = partitions.data(),
                      .partition_count = partition_count,
                      .speculative_ends = speculative_ends.data(),
                      .prefix_ends = prefix_ends.data(),
                      .speculative = speculative.data(),
                      .overflowed = overflowed.data()},
            .states = {states.data(), states.data() + partition_count},
            .counts = counts.data(),
            .firsts = firsts.data(),
            .changed = changed.data(),
            .chunks = chunks};
  }
};

}  // namespace cutpoint::cuda
