// What is done with a batch on an executor, between its bytes and its chunks: both in the executor's memory. One source for
// devices and for the host that stands in for one in tests.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/batch/workspace.h"
#include "cuda/hash/hash_launcher.h"
#include "cuda/return_if_failed.h"

namespace cutpoint::cuda {

template <class Executor>
class batch_launcher {
 public:
  /// Allocates all memory that batches within the limits need, except their bytes. `launcher` was made on the executor;
  /// null where all chunks are known.
  [[nodiscard]] static result<batch_launcher> make(Executor& executor, std::unique_ptr<cut_launcher<Executor>> launcher,
                                                   const fingerprint_recipe& fingerprint, const batch_limits& limits) {
    batch_launcher made;
    made.max_chunks_ = limits.chunks;
    if (launcher) {
      made.plan_ = plan_partitions(launcher->sizes(), limits);
      made.max_chunks_ = std::max(limits.chunks, made.plan_.max_chunks);
      CUTPOINT_RETURN_IF_FAILED(store_result(
          cut_workspace<Executor>::allocate(executor, made.plan_, limits, launcher->levels()), made.workspace_));
      made.cut_launcher_ = std::move(launcher);
    }
    CUTPOINT_RETURN_IF_FAILED(
        store_result(chunk_workspace<Executor>::allocate(executor, made.max_chunks_), made.chunks_));
    CUTPOINT_RETURN_IF_FAILED(store_result(
        hash_launcher<Executor>::make(executor, fingerprint, limits.bytes, made.max_chunks_), made.hash_launcher_));
    CUTPOINT_RETURN_IF_FAILED(executor.reserve_temporary_storage(made.max_chunks_ + made.plan_.max_partitions));
    return result<batch_launcher>(std::move(made));
  }

  /// Says where the next batches' stream ranges are.
  void partition_streams(std::span<const stream_range> stream_ranges) {
    partitions_.clear();
    for (std::uint32_t i = 0; i < stream_ranges.size(); ++i) append_partitions(plan_, stream_ranges[i], i, partitions_);
  }
  /// Tells the executor of them, once it is done with the last ones.
  [[nodiscard]] status copy_partitions(Executor& executor, std::span<const stream_range> stream_ranges) {
    CUTPOINT_RETURN_IF_FAILED(executor.wait());
    CUTPOINT_RETURN_IF_FAILED(
        executor.copy_in(workspace_.stream_ranges.data(), stream_ranges.data(), stream_ranges.size()));
    return executor.copy_in(workspace_.partitions.data(), partitions_.data(), partitions_.size());
  }

  /// Puts the cuts of a batch of such stream ranges into the executor's stream. `bytes`: aligned to 16, readable up to the next
  /// multiple of 16 past the last.
  [[nodiscard]] status enqueue_cuts(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    const cut_launch_arguments job = workspace_.job({.bytes = bytes, .byte_count = byte_count},
                                                    static_cast<std::uint32_t>(partitions_.size()), chunks_.list());
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.batch.overflowed, 1));
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.chunks.count, 1));
    if (partitions_.empty()) return {};
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.chunks.lengths, slot_count()));
    return cut_launcher_->enqueue(executor, job);
  }
  /// And then the fingerprints.
  [[nodiscard]] status enqueue_fingerprints(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    return partitions_.empty() ? status()
                               : hash_launcher_.enqueue(executor, bytes, chunks_.list(), byte_count, slot_count());
  }

  /// Tells the executor of chunks that are known. Their memory stays as it is until the executor has been waited for.
  [[nodiscard]] status copy_known_chunks(Executor& executor, std::span<const std::uint64_t> begins,
                                         std::span<const std::uint32_t> lengths, const std::uint32_t* count) {
    CUTPOINT_RETURN_IF_FAILED(executor.copy_in(chunks_.begins.data(), begins.data(), begins.size()));
    CUTPOINT_RETURN_IF_FAILED(executor.copy_in(chunks_.lengths.data(), lengths.data(), lengths.size()));
    return executor.copy_in(chunks_.count.data(), count, 1);
  }
  /// Puts the fingerprints of so many known chunks into the executor's stream.
  [[nodiscard]] status enqueue_known_fingerprints(Executor& executor, const std::uint8_t* bytes,
                                                  std::uint64_t byte_count, std::uint64_t chunk_count) {
    return hash_launcher_.enqueue(executor, bytes, chunks_.list(), byte_count, chunk_count);
  }

  [[nodiscard]] bool cuts() const noexcept { return cut_launcher_ != nullptr; }
  [[nodiscard]] std::uint64_t max_chunks() const noexcept { return max_chunks_; }
  [[nodiscard]] std::uint64_t max_partitions() const noexcept { return plan_.max_partitions; }
  [[nodiscard]] const std::vector<partition>& partitions() const { return partitions_; }
  /// Where a batch's chunks are when the stream has got there; what is beyond `max_chunks` is not used.
  [[nodiscard]] const cut_workspace<Executor>& workspace() const { return workspace_; }
  [[nodiscard]] const chunk_workspace<Executor>& chunks() const { return chunks_; }
  [[nodiscard]] const std::uint8_t* digests() const { return hash_launcher_.digests(); }
  [[nodiscard]] std::size_t digest_bytes() const noexcept { return hash_launcher_.digest_bytes(); }

 private:
  batch_launcher() = default;

  /// Chunks that the partitions have room for.
  [[nodiscard]] std::uint64_t slot_count() const {
    return partitions_.back().first_slot + partitions_.back().slot_count;
  }

  std::unique_ptr<cut_launcher<Executor>> cut_launcher_;  ///< null: chunks are known
  partition_plan plan_;
  std::uint64_t max_chunks_ = 0;
  cut_workspace<Executor> workspace_;
  chunk_workspace<Executor> chunks_;
  hash_launcher<Executor> hash_launcher_;
  std::vector<partition> partitions_;
};

}  // namespace cutpoint::cuda
