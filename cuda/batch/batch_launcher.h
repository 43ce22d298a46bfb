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
#include "cuda/kernel/return_if_failed.h"

namespace cutpoint::cuda {

template <class Executor>
class batch_launcher {
 public:
  /// Allocates all memory that batches within the limits need, except their bytes. `launcher` was made on the executor; it
  /// is null if all chunks are known.
  [[nodiscard]] static result<batch_launcher> make(Executor& executor, std::unique_ptr<cut_launcher<Executor>> launcher,
                                                   const fingerprint_recipe& fingerprint, const batch_limits& limits) {
    batch_launcher self;
    typename allocated_arrays<Executor>::allocator memory(executor, self.arrays_);
    std::uint64_t max_chunks = limits.chunks;
    if (launcher) {
      self.plan_ = plan_partitions(launcher->sizes(), limits);
      max_chunks = std::max(limits.chunks, self.plan_.max_chunks);
      self.workspace_ = cut_workspace::lay_out(memory, self.plan_, limits.stream_ranges,
                                               launcher->levels() * packed_bytes::candidate_words(limits.bytes));
      self.cut_launcher_ = std::move(launcher);
    }
    self.chunks_ = chunk_workspace::lay_out(memory, max_chunks);
    self.hash_launcher_ = hash_launcher<Executor>::lay_out(memory, fingerprint, {limits.bytes, max_chunks});
    self.digests_ = memory.template add<std::uint8_t>(max_chunks * self.digest_bytes());
    const auto temporary_bytes = executor.temporary_storage_bytes(max_chunks + self.plan_.max_partitions);
    if (!temporary_bytes) return temporary_bytes.error();
    auto* const temporary = memory.template add<std::uint8_t>(*temporary_bytes);
    CUTPOINT_RETURN_IF_FAILED(memory.outcome());
    executor.use_temporary_storage({temporary, *temporary_bytes});
    if (self.cuts()) CUTPOINT_RETURN_IF_FAILED(self.workspace_.clear_once(executor));
    CUTPOINT_RETURN_IF_FAILED(self.hash_launcher_.write_once(executor));
    CUTPOINT_RETURN_IF_FAILED(executor.wait());  // the memory may be freed before the first batch
    const std::size_t staged_bytes =
        std::max(self.workspace_.description_bytes, self.digest_bytes() != 0 ? self.chunks_.size_for(max_chunks) : 0);
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate_on_host<std::uint8_t>(staged_bytes), self.staged_));
    return result<batch_launcher>(std::move(self));
  }

  /// Computes the partitions of the next batches' stream ranges.
  void partition_streams(std::span<const stream_range> stream_ranges) {
    partitions_.clear();
    for (std::uint32_t i = 0; i < stream_ranges.size(); ++i) append_partitions(plan_, stream_ranges[i], i, partitions_);
  }
  /// Copies both to the executor, which has finished the last batch.
  [[nodiscard]] status copy_description(Executor& executor, std::span<const stream_range> stream_ranges) {
    stream_range_count_ = stream_ranges.size();
    std::uint8_t* end = staged_.data();
    const auto append = [&](const auto& all) {
      end = std::copy_n(reinterpret_cast<const std::uint8_t*>(all.data()), all.size() * sizeof *all.data(), end);
    };
    append(stream_ranges);
    append(partitions_);
    return executor.copy_in(workspace_.description, staged_.data(),
                            workspace_.description_size(stream_ranges.size(), partitions_.size()));
  }

  /// Puts the cuts of a batch with these stream ranges into the executor's stream. `bytes` is aligned to 16 and readable up
  /// to the next multiple of 16 past the last byte.
  [[nodiscard]] status enqueue_cuts(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    CUTPOINT_RETURN_IF_FAILED(workspace_.clear_counters(executor));
    if (partitions_.empty()) return {};
    chunk_list list = chunks();
    list.capacity = slot_count();
    return cut_launcher_->enqueue(executor,
                                  workspace_.job({.bytes = bytes, .byte_count = byte_count}, stream_range_count_,
                                                 static_cast<std::uint32_t>(partitions_.size()), list));
  }
  /// Puts the fingerprints of the chunks into the stream after that.
  [[nodiscard]] status enqueue_fingerprints(Executor& executor, const std::uint8_t* bytes, std::uint64_t byte_count) {
    return partitions_.empty() ? status()
                               : hash_launcher_.enqueue(executor, bytes, chunks(),
                                                        {byte_count, slot_count(), cut_launcher_->reach()}, digests_);
  }

  /// Copies known chunks to the executor, which has finished the last batch.
  [[nodiscard]] status copy_known_chunks(Executor& executor, std::span<const std::uint64_t> begins,
                                         std::span<const std::uint32_t> lengths) {
    const chunk_list staged = chunks_.list_in(staged_.data(), begins.size());
    std::copy(begins.begin(), begins.end(), staged.begins);
    std::copy(lengths.begin(), lengths.end(), staged.lengths);
    *staged.count = static_cast<std::uint32_t>(begins.size());
    return executor.copy_in(chunks_.bytes, staged_.data(), chunks_.size_for(begins.size()));
  }
  /// Puts the fingerprints of known chunks into the executor's stream.
  [[nodiscard]] status enqueue_known_fingerprints(Executor& executor, const std::uint8_t* bytes,
                                                  const hash_limits& batch) {
    return hash_launcher_.enqueue(executor, bytes, chunks_.list_in(chunks_.bytes, batch.chunks), batch, digests_);
  }

  [[nodiscard]] bool cuts() const noexcept { return cut_launcher_ != nullptr; }
  [[nodiscard]] std::uint64_t max_chunks() const noexcept { return chunks_.slots; }
  [[nodiscard]] std::uint64_t max_partitions() const noexcept { return plan_.max_partitions; }
  [[nodiscard]] const std::vector<partition>& partitions() const { return partitions_; }
  /// The chunks that a batch is cut in, once the stream has done the work, and the counters.
  [[nodiscard]] chunk_list chunks() const {
    chunk_list list = chunks_.list_in(chunks_.bytes, chunks_.slots);
    list.count = counters() + counter_words::chunk_count;
    return list;
  }
  [[nodiscard]] std::uint32_t* counters() const { return workspace_.counters; }
  [[nodiscard]] const counter_words& words() const { return workspace_.words; }
  /// The digests in the executor's memory, in the order of the chunks.
  [[nodiscard]] const std::uint8_t* digests() const { return digests_; }
  [[nodiscard]] std::size_t digest_bytes() const noexcept { return hash_launcher_.digest_bytes(); }

 private:
  batch_launcher() = default;

  /// Number of chunks that the partitions have slots for.
  [[nodiscard]] std::uint64_t slot_count() const {
    return partitions_.back().first_slot + partitions_.back().slot_count;
  }

  std::unique_ptr<cut_launcher<Executor>> cut_launcher_;  ///< null if chunks are known
  partition_plan plan_;
  allocated_arrays<Executor> arrays_;
  cut_workspace workspace_;
  chunk_workspace chunks_;
  hash_launcher<Executor> hash_launcher_;
  std::uint8_t* digests_ = nullptr;
  std::vector<partition> partitions_;
  std::uint64_t stream_range_count_ = 0;
  typename Executor::template host_array<std::uint8_t> staged_;  ///< what is copied in, but for the bytes
};

}  // namespace cutpoint::cuda
