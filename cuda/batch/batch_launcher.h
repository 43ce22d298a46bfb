// Cuts and fingerprints a batch on an executor. Its bytes and its chunks are in the executor's memory. The source is the same
// for devices and for the host double.
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
  /// Allocates all memory that batches within the limits need, except their bytes. `launcher` was made on the executor; it
  /// is null if all chunks are known.
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
        hash_launcher<Executor>::make(executor, fingerprint, {limits.bytes, made.max_chunks_}), made.hash_launcher_));
    CUTPOINT_RETURN_IF_FAILED(executor.reserve_temporary_storage(made.max_chunks_ + made.plan_.max_partitions));
    return result<batch_launcher>(std::move(made));
  }

  /// Computes the partitions of the next batches' stream ranges.
  void partition_streams(std::span<const stream_range> stream_ranges) {
    partitions_.clear();
    for (std::uint32_t i = 0; i < stream_ranges.size(); ++i) append_partitions(plan_, stream_ranges[i], i, partitions_);
  }
  /// Copies them to the executor, after it has finished the last batch.
  [[nodiscard]] status copy_partitions(Executor& executor, std::span<const stream_range> stream_ranges) {
    CUTPOINT_RETURN_IF_FAILED(executor.wait());
    CUTPOINT_RETURN_IF_FAILED(
        executor.copy_in(workspace_.stream_ranges.data(), stream_ranges.data(), stream_ranges.size()));
    return executor.copy_in(workspace_.partitions.data(), partitions_.data(), partitions_.size());
  }

  /// Puts the cuts of a batch with these stream ranges into the executor's stream. `bytes` is aligned to 16 and readable up
  /// to the next multiple of 16 past the last byte.
  [[nodiscard]] status enqueue_cuts(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    const cut_launch_arguments job = workspace_.job({.bytes = bytes, .byte_count = byte_count},
                                                    static_cast<std::uint32_t>(partitions_.size()), chunks_.list());
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.batch.overflowed, 1));
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.chunks.count, 1));
    if (partitions_.empty()) return {};
    CUTPOINT_RETURN_IF_FAILED(executor.clear(job.chunks.lengths, slot_count()));
    return cut_launcher_->enqueue(executor, job);
  }
  /// Puts the fingerprints of the chunks into the stream after that.
  [[nodiscard]] status enqueue_fingerprints(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    return partitions_.empty() ? status()
                               : hash_launcher_.enqueue(executor, bytes, chunks_.list(),
                                                        {byte_count, slot_count(), cut_launcher_->reach()});
  }

  /// Copies known chunks to the executor. The caller keeps the arrays unchanged until it has waited for the executor.
  [[nodiscard]] status copy_known_chunks(Executor& executor, std::span<const std::uint64_t> begins,
                                         std::span<const std::uint32_t> lengths, const std::uint32_t* count) {
    CUTPOINT_RETURN_IF_FAILED(executor.copy_in(chunks_.begins.data(), begins.data(), begins.size()));
    CUTPOINT_RETURN_IF_FAILED(executor.copy_in(chunks_.lengths.data(), lengths.data(), lengths.size()));
    return executor.copy_in(chunks_.count.data(), count, 1);
  }
  /// Puts the fingerprints of known chunks into the executor's stream.
  [[nodiscard]] status enqueue_known_fingerprints(Executor& executor, const std::uint8_t* bytes,
                                                  const hash_limits& batch) {
    return hash_launcher_.enqueue(executor, bytes, chunks_.list(), batch);
  }

  [[nodiscard]] bool cuts() const noexcept { return cut_launcher_ != nullptr; }
  [[nodiscard]] std::uint64_t max_chunks() const noexcept { return max_chunks_; }
  [[nodiscard]] std::uint64_t max_partitions() const noexcept { return plan_.max_partitions; }
  [[nodiscard]] const std::vector<partition>& partitions() const { return partitions_; }
  /// The chunks of a batch, once the stream has done the work. Elements beyond `max_chunks` are not used.
  [[nodiscard]] const cut_workspace<Executor>& workspace() const { return workspace_; }
  [[nodiscard]] const chunk_workspace<Executor>& chunks() const { return chunks_; }
  [[nodiscard]] const std::uint8_t* digests() const { return hash_launcher_.digests(); }
  [[nodiscard]] std::size_t digest_bytes() const noexcept { return hash_launcher_.digest_bytes(); }

 private:
  batch_launcher() = default;

  /// Number of chunks that the partitions have slots for.
  [[nodiscard]] std::uint64_t slot_count() const {
    return partitions_.back().first_slot + partitions_.back().slot_count;
  }

  std::unique_ptr<cut_launcher<Executor>> cut_launcher_;  ///< null if chunks are known
  partition_plan plan_;
  std::uint64_t max_chunks_ = 0;
  cut_workspace<Executor> workspace_;
  chunk_workspace<Executor> chunks_;
  hash_launcher<Executor> hash_launcher_;
  std::vector<partition> partitions_;
};

}  // namespace cutpoint::cuda
