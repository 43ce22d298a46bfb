// Cuts and fingerprints a batch of buffers on an executor, in workspace of the caller. The addresses and sizes of the buffers
// are in the executor's memory, and so the host neither reads nor waits for them.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <cutpoint/cuda.h>

#include "cuda/batch/buffer_totals.h"
#include "cuda/batch/workspace.h"
#include "cuda/hash/hash_launcher.h"

namespace cutpoint::cuda {

// Kernels that turn a batch of buffers, whose addresses and sizes are in device memory, into a paged batch with stream ranges
// and partitions, and that list the buffers' chunks.

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

/// What batches within bounds may have at most.
struct buffer_plan {
  std::uint64_t max_buffers = 0;
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t max_total_bytes = 0;
  std::uint64_t max_pages = 0;
  std::uint64_t max_chunks = 0;
  partition_plan partitions = {};
};

/// Thread-safe, but for each executor.
template <class Executor>
class buffer_batch {
 public:
  /// `launcher` was made on an executor of the device that batches run on.
  buffer_batch(std::unique_ptr<cut_launcher<Executor>> launcher, const fingerprint_recipe& fingerprint)
      : cut_launcher_(std::move(launcher)), fingerprint_(fingerprint) {}

  [[nodiscard]] std::size_t digest_bytes() const {
    array_layout none;
    return hash_launcher<Executor>::lay_out(none, fingerprint_, {}).digest_bytes();
  }

  /// Errors: invalid_argument, if a bound is out of range.
  [[nodiscard]] result<buffer_plan> plan(const device_batch_bounds& bounds) const {
    constexpr std::uint64_t most_total = std::uint64_t{1} << 40;
    constexpr std::uint64_t most_buffer = (std::uint64_t{1} << 32) - 64;
    constexpr std::uint64_t most_chunks = (std::uint64_t{1} << 32) - 1;
    CUTPOINT_RETURN_IF_FAILED(check("max_buffers", bounds.max_buffers, 1, std::uint64_t{1} << 31));
    CUTPOINT_RETURN_IF_FAILED(check("max_total_bytes", bounds.max_total_bytes, 1, most_total));
    CUTPOINT_RETURN_IF_FAILED(check("max_buffer_bytes", bounds.max_buffer_bytes, 0, most_buffer));
    CUTPOINT_RETURN_IF_FAILED(check("max_chunks", bounds.max_chunks, 0, most_chunks));
    buffer_plan all{.max_buffers = bounds.max_buffers, .max_total_bytes = bounds.max_total_bytes};
    all.max_buffer_bytes =
        std::min(bounds.max_buffer_bytes == 0 ? most_buffer : bounds.max_buffer_bytes, bounds.max_total_bytes);
    // A page more for the rest of a buffer, and one for the bytes before its first aligned one.
    all.max_pages = bounds.max_total_bytes / page_bytes + 2 * bounds.max_buffers;
    all.partitions =
        plan_partitions(cut_launcher_->sizes(), {.bytes = bounds.max_total_bytes, .stream_ranges = bounds.max_buffers});
    if (all.partitions.max_chunks > most_chunks) {
      return status(status_code::invalid_argument, "max_total_bytes = " + std::to_string(bounds.max_total_bytes) +
                                                       " may give more than 4294967295 chunks of " +
                                                       std::to_string(all.partitions.min_chunk_bytes) + " bytes");
    }
    all.max_chunks = bounds.max_chunks == 0 ? all.partitions.max_chunks : bounds.max_chunks;
    return all;
  }

  [[nodiscard]] result<std::size_t> workspace_bytes(Executor& executor, const buffer_plan& bounds) const {
    array_layout sizes;
    const auto arrays = lay_out(executor, sizes, bounds);
    if (!arrays) return arrays.error();
    return sizes.byte_count();
  }

  /// Puts the work on a batch into the executor's stream.
  [[nodiscard]] status enqueue(Executor& executor, const buffer_plan& bounds, const device_batch& batch,
                               const device_batch_chunks& output, std::span<std::uint8_t> workspace) const {
    CUTPOINT_RETURN_IF_FAILED(check_arrays(batch, output));
    if (reinterpret_cast<std::uintptr_t>(workspace.data()) % array_layout::alignment != 0) {
      return {status_code::invalid_argument, "the workspace is not aligned to 256 bytes"};
    }
    array_layout memory(workspace.data());
    CUTPOINT_TRY(auto arrays, lay_out(executor, memory, bounds));
    if (workspace.data() == nullptr || memory.byte_count() > workspace.size()) {
      return {status_code::invalid_argument, "a workspace of " + std::to_string(workspace.size()) +
                                                 " bytes is less than the bounds need, " +
                                                 std::to_string(memory.byte_count())};
    }
    executor.use_temporary_storage(arrays.temporary);
    CUTPOINT_RETURN_IF_FAILED(arrays.cut.clear_once(executor));
    CUTPOINT_RETURN_IF_FAILED(arrays.cut.clear_counters(executor));
    CUTPOINT_RETURN_IF_FAILED(arrays.hash.write_once(executor));
    return enqueue_in(executor, bounds, batch, output, arrays);
  }

 private:
  struct workspace_arrays {
    buffer_totals* own = nullptr;
    buffer_totals* sums = nullptr;
    std::uint32_t* page_ranges = nullptr;
    std::uint64_t* used_bytes = nullptr;
    std::uint32_t* used_partitions = nullptr;
    std::uint64_t* begins = nullptr;
    cut_workspace cut = {};
    hash_launcher<Executor> hash = {};
    std::span<std::uint8_t> temporary = {};
  };

  template <class Memory>
  [[nodiscard]] result<workspace_arrays> lay_out(Executor& executor, Memory& memory, const buffer_plan& bounds) const {
    CUTPOINT_TRY(const auto for_chunks,
                 executor.temporary_storage_bytes(bounds.max_chunks + bounds.partitions.max_partitions));
    CUTPOINT_TRY(const auto for_buffers, executor.template temporary_storage_bytes<buffer_totals>(bounds.max_buffers));
    const std::size_t temporary_bytes = std::max(for_chunks, for_buffers);
    workspace_arrays all;
    all.own = memory.template add<buffer_totals>(bounds.max_buffers);
    all.sums = memory.template add<buffer_totals>(bounds.max_buffers + 1);
    all.page_ranges = memory.template add<std::uint32_t>(bounds.max_pages);
    all.used_bytes = memory.template add<std::uint64_t>(1);
    all.used_partitions = memory.template add<std::uint32_t>(1);
    all.begins = memory.template add<std::uint64_t>(bounds.max_chunks);
    all.cut =
        cut_workspace::lay_out(memory, bounds.partitions, bounds.max_buffers,
                               cut_launcher_->levels() * packed_bytes::candidate_words(bounds.max_pages * page_bytes));
    all.hash = hash_launcher<Executor>::lay_out(memory, fingerprint_, {bounds.max_total_bytes, bounds.max_chunks});
    all.temporary = {memory.template add<std::uint8_t>(temporary_bytes), temporary_bytes};
    return result<workspace_arrays>(std::move(all));
  }

  [[nodiscard]] status enqueue_in(Executor& executor, const buffer_plan& bounds, const device_batch& batch,
                                  const device_batch_chunks& output, workspace_arrays& arrays) const {
    const described_buffers work{.input = batch,
                                 .max_buffers = bounds.max_buffers,
                                 .max_buffer_bytes = bounds.max_buffer_bytes,
                                 .max_total_bytes = bounds.max_total_bytes,
                                 .partition_bytes = bounds.partitions.partition_bytes,
                                 .min_chunk_bytes = bounds.partitions.min_chunk_bytes,
                                 .own = arrays.own,
                                 .sums = arrays.sums};
    CUTPOINT_RETURN_IF_FAILED(executor.launch(measure_buffers_kernel{work}));
    CUTPOINT_RETURN_IF_FAILED(executor.prefix_sum(arrays.own, arrays.sums, bounds.max_buffers));
    std::uint32_t* const chunk_count = arrays.cut.counters + counter_words::chunk_count;
    cut_launch_arguments job =
        arrays.cut.job({.byte_count = bounds.max_pages * page_bytes,
                        .stream_ranges = arrays.cut.stream_ranges(),
                        .page_ranges = arrays.page_ranges,
                        .used_bytes = arrays.used_bytes},
                       bounds.max_buffers, static_cast<std::uint32_t>(bounds.partitions.max_partitions),
                       {.begins = arrays.begins,
                        .lengths = output.lengths,
                        .count = chunk_count,
                        .capacity = bounds.max_chunks,
                        .offsets = output.offsets});
    job.batch.used_partitions = arrays.used_partitions;
    CUTPOINT_RETURN_IF_FAILED(
        executor.launch(describe_buffers_kernel{.work = work,
                                                .max_pages = bounds.max_pages,
                                                .stream_ranges = arrays.cut.stream_ranges(),
                                                .partitions = arrays.cut.partitions(bounds.max_buffers),
                                                .page_ranges = arrays.page_ranges,
                                                .used_bytes = arrays.used_bytes,
                                                .used_partitions = arrays.used_partitions}));
    CUTPOINT_RETURN_IF_FAILED(cut_launcher_->enqueue(executor, job));
    CUTPOINT_RETURN_IF_FAILED(
        executor.launch(list_buffers_kernel{work, job.firsts, job.batch.overflowed, chunk_count, output}));
    const std::uint64_t longest = std::min(cut_launcher_->reach(), bounds.max_buffer_bytes);
    return arrays.hash.enqueue(executor, nullptr, job.chunks, {bounds.max_total_bytes, bounds.max_chunks, longest},
                               output.digests);
  }

  [[nodiscard]] static status check(const char* name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return {};
    return {status_code::invalid_argument, std::string(name) + " = " + std::to_string(value) + " must be between " +
                                               std::to_string(least) + " and " + std::to_string(most)};
  }

  [[nodiscard]] status check_arrays(const device_batch& batch, const device_batch_chunks& output) const {
    const auto missing = [](const char* name) {
      return status(status_code::invalid_argument, std::string("the array ") + name + " is null");
    };
    if (batch.buffers == nullptr) return missing("buffers");
    if (batch.byte_counts == nullptr) return missing("byte_counts");
    if (output.first_chunks == nullptr) return missing("first_chunks");
    if (output.lengths == nullptr) return missing("lengths");
    if (output.problem == nullptr) return missing("problem");
    if (digest_bytes() == 0) return {};
    if (output.digests == nullptr) return missing("digests");
    return reinterpret_cast<std::uintptr_t>(output.digests) % sizeof(std::uint32_t) == 0
               ? status()
               : status(status_code::invalid_argument, "the array digests is not aligned to 4 bytes");
  }

  std::unique_ptr<cut_launcher<Executor>> cut_launcher_;
  fingerprint_recipe fingerprint_;
};

}  // namespace cutpoint::cuda
