// Kernels that turn a batch of buffers, whose addresses and sizes are in device memory, into a paged batch with stream ranges
// and partitions, and that list the buffers' chunks.
#pragma once

#include <cutpoint/cuda.h>

#include "cuda/batch/buffer_totals.h"
#include "cuda/batch/workspace.h"

namespace cutpoint::cuda {

/// A batch of buffers, its bounds, and what is known about each buffer. Pointers are to the executor's memory.
struct described_buffers {
  device_batch input = {};
  std::uint64_t max_buffers = 0;
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t max_total_bytes = 0;
  std::uint64_t partition_bytes = 0;
  std::uint64_t min_chunk_bytes = 0;
  buffer_totals* own = nullptr;   ///< [max_buffers]
  buffer_totals* sums = nullptr;  ///< [max_buffers + 1] of the buffers before each

  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t buffer_count() const {
    return input.buffer_count == nullptr ? max_buffers : *input.buffer_count;
  }
  /// The first problem, once the sums are known.
  [[nodiscard]] CUTPOINT_DEVICE device_batch_problem problem() const {
    if (buffer_count() > max_buffers) return device_batch_problem::too_many_buffers;
    if (sums[max_buffers].refused != 0) return device_batch_problem::buffer_too_long;
    if (sums[max_buffers].bytes > max_total_bytes) return device_batch_problem::too_many_bytes;
    return device_batch_problem::none;
  }
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t address(std::uint64_t i) const {
    return reinterpret_cast<std::uintptr_t>(input.buffers[i]);
  }
  /// Bytes between the multiple of 16 before a buffer's first byte and that byte.
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t lead(std::uint64_t i) const { return address(i) % sizeof(bytes16); }

  /// Returns the last buffer before which at most `number` of what `total_of(totals)` counts lie. If `number` of them exist
  /// and more, that buffer has the one with this number.
  template <class TotalOf>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t buffer_with(std::uint64_t number, TotalOf total_of) const {
    std::uint64_t first = 0;
    for (std::uint64_t past = max_buffers; past - first > 1;) {
      const std::uint64_t middle = first + (past - first) / 2;
      if (total_of(sums[middle]) <= number) {
        first = middle;
      } else {
        past = middle;
      }
    }
    return first;
  }
};

namespace buffer_kernels_detail {

/// Runs `each(i)` for every i below `count`, each by one thread of the grid.
template <class Block, class Each>
CUTPOINT_DEVICE void for_each_number(Block& block, std::uint64_t count, Each each) {
  block.for_each_thread([&](auto thread) {
    const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
    std::uint64_t i = std::uint64_t{block.index()} * block.thread_count() + thread.index();
    for (; i < count; i += stride) each(i);
  });
}

}  // namespace buffer_kernels_detail

/// Computes what each buffer takes.
struct measure_buffers_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  described_buffers work;

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return work.max_buffers / threads + 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    const std::uint64_t buffer_count = work.buffer_count();
    buffer_kernels_detail::for_each_number(block, work.max_buffers, [&](std::uint64_t i) {
      work.own[i] = i < buffer_count ? totals_of(i) : buffer_totals{};
      if (i == 0) work.sums[0] = {};
    });
  }

 private:
  [[nodiscard]] CUTPOINT_DEVICE buffer_totals totals_of(std::uint64_t i) const {
    const std::uint64_t bytes = work.input.byte_counts[i];
    if (bytes == 0) return {};
    if (bytes > work.max_buffer_bytes) return {.refused = 1};
    const std::uint64_t whole = bytes / work.partition_bytes;
    const std::uint64_t rest = bytes % work.partition_bytes;
    return {.bytes = bytes,
            .pages = (work.lead(i) + bytes + page_bytes - 1) / page_bytes,
            .partitions = whole + (rest == 0 ? 0 : 1),
            .slots = whole * slots_of(work.partition_bytes, work.min_chunk_bytes) +
                     (rest == 0 ? 0 : slots_of(rest, work.min_chunk_bytes))};
  }
};

/// Writes the stream ranges, the partitions and the pages' stream ranges, and how many there are: none if the batch is refused.
struct describe_buffers_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  described_buffers work;
  std::uint64_t max_pages = 0;
  stream_range* stream_ranges = nullptr;     ///< [max_buffers], written
  partition* partitions = nullptr;           ///< written
  std::uint32_t* page_ranges = nullptr;      ///< [max_pages], written
  std::uint64_t* used_bytes = nullptr;       ///< [1], written
  std::uint32_t* used_partitions = nullptr;  ///< [1], written

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return max_pages / threads + 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using buffer_kernels_detail::for_each_number;
    const buffer_totals all =
        work.problem() == device_batch_problem::none ? work.sums[work.max_buffers] : buffer_totals{};
    for_each_number(block, work.max_buffers, [&](std::uint64_t i) {
      if (all.bytes != 0 && work.own[i].bytes != 0) stream_ranges[i] = range_of(i);
      if (i != 0) return;
      *used_bytes = all.pages * page_bytes;
      *used_partitions = static_cast<std::uint32_t>(all.partitions);
    });
    for_each_number(block, all.partitions, [&](std::uint64_t k) {
      const std::uint64_t i = work.buffer_with(k, [](const buffer_totals& before) { return before.partitions; });
      partitions[k] = partition_of(i, k - work.sums[i].partitions);
    });
    for_each_number(block, all.pages, [&](std::uint64_t page) {
      page_ranges[page] =
          static_cast<std::uint32_t>(work.buffer_with(page, [](const buffer_totals& before) { return before.pages; }));
    });
  }

 private:
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t begin_of(std::uint64_t i) const {
    return work.sums[i].pages * page_bytes + work.lead(i);
  }
  [[nodiscard]] CUTPOINT_DEVICE stream_range range_of(std::uint64_t i) const {
    const std::uint64_t begin = begin_of(i);
    const std::uint64_t end = begin + work.own[i].bytes;
    const bool ends = work.input.ends == nullptr || work.input.ends[i] != 0;
    return {.begin = begin,
            .start = begin,
            .stop = end,
            .end = end,
            .shift = work.address(i) - begin,
            .ends = ends ? std::uint32_t{1} : std::uint32_t{0}};
  }
  [[nodiscard]] CUTPOINT_DEVICE partition partition_of(std::uint64_t i, std::uint64_t number) const {
    const std::uint64_t offset = number * work.partition_bytes;
    const std::uint64_t bytes = least(work.partition_bytes, work.own[i].bytes - offset);
    const std::uint32_t slots_before = slots_of(work.partition_bytes, work.min_chunk_bytes);
    return {.begin = begin_of(i) + offset,
            .end = begin_of(i) + offset + bytes,
            .stream_range = static_cast<std::uint32_t>(i),
            .is_first = number == 0 ? std::uint32_t{1} : std::uint32_t{0},
            .first_slot = static_cast<std::uint32_t>(work.sums[i].slots + number * slots_before),
            .slot_count = slots_of(bytes, work.min_chunk_bytes)};
  }
};

/// Writes the index of each buffer's first chunk, and whether the batch was refused. A batch that was has no chunks.
struct list_buffers_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  described_buffers work;
  const std::uint32_t* firsts = nullptr;  ///< the index of each partition's first chunk, and the number of chunks
  const std::uint32_t* overflowed = nullptr;
  std::uint32_t* chunk_count = nullptr;  ///< [1] becomes 0 if the batch is refused
  device_batch_chunks output = {};

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return work.max_buffers / threads + 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    device_batch_problem problem = work.problem();
    if (problem == device_batch_problem::none && *overflowed != 0) problem = device_batch_problem::too_many_chunks;
    const bool is_refused = problem != device_batch_problem::none;
    buffer_kernels_detail::for_each_number(block, work.max_buffers + 1, [&](std::uint64_t i) {
      output.first_chunks[i] = is_refused ? 0 : firsts[work.sums[i].partitions];
      if (i != 0) return;
      *output.problem = static_cast<std::uint32_t>(problem);
      if (is_refused) *chunk_count = 0;
    });
  }
};

}  // namespace cutpoint::cuda
