// Batches of host memory on an executor: copied in, cut and fingerprinted, or only fingerprinted, and the results copied
// out.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/algorithms/all_specifications.h"
#include "cuda/batch/offload.h"
#include "cuda/batch/workspace.h"
#include "cuda/hash/hash_launcher.h"

namespace cutpoint::cuda {

// Cuts and fingerprints a batch on an executor. Its bytes and its chunks are in the executor's memory. The source is the same
// for devices and for the host double.

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
    CUTPOINT_TRY(const auto temporary_bytes, executor.temporary_storage_bytes(max_chunks + self.plan_.max_partitions));
    auto* const temporary = memory.template add<std::uint8_t>(temporary_bytes);
    CUTPOINT_RETURN_IF_FAILED(memory.outcome());
    executor.use_temporary_storage({temporary, temporary_bytes});
    if (self.cuts()) CUTPOINT_RETURN_IF_FAILED(self.workspace_.clear_once(executor));
    CUTPOINT_RETURN_IF_FAILED(self.hash_launcher_.write_once(executor));
    CUTPOINT_RETURN_IF_FAILED(executor.wait());  // the memory may be freed before the first batch
    const std::size_t staged_bytes =
        std::max(self.workspace_.description_bytes, self.digest_bytes() != 0 ? self.chunks_.size_for(max_chunks) : 0);
    CUTPOINT_TRY(self.staged_, executor.template allocate_on_host<std::uint8_t>(staged_bytes));
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

template <class Executor>
class batch_offload final : public offload {
 public:
  /// Allocates all memory that batches within the limits need. `launcher` was made on the executor; it is null if all chunks
  /// are known.
  [[nodiscard]] static result<std::unique_ptr<offload>> make(Executor executor,
                                                             std::unique_ptr<cut_launcher<Executor>> launcher,
                                                             const fingerprint_recipe& fingerprint,
                                                             const batch_limits& limits) {
    CUTPOINT_TRY(auto bytes, executor.template allocate<bytes16>(limits.bytes / sizeof(bytes16) + 1));
    CUTPOINT_TRY(auto work, batch_launcher<Executor>::make(executor, std::move(launcher), fingerprint, limits));
    CUTPOINT_TRY(auto results, found_chunks::allocate(executor, work));
    CUTPOINT_RETURN_IF_FAILED(executor.reserve_events(event_count));
    return std::unique_ptr<offload>(
        new batch_offload(std::move(executor), limits, std::move(bytes), std::move(work), std::move(results)));
  }

  status run(const batch_input& input, batch_output& output) override {
    output = {};
    if (!work_.cuts()) {
      return {status_code::invalid_argument, "an offload that was made to fingerprint does not cut"};
    }
    const std::uint64_t byte_count = size_of(input.buffers);
    CUTPOINT_RETURN_IF_FAILED(
        check_limits(byte_count, input.stream_ranges.size(), limits_.stream_ranges, "stream ranges"));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(called));
    work_.partition_streams(input.stream_ranges);
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copying));
    CUTPOINT_RETURN_IF_FAILED(work_.copy_description(executor_, input.stream_ranges));
    CUTPOINT_RETURN_IF_FAILED(copy_bytes(input.buffers));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copied_in));
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue_cuts(executor_, device_bytes(), byte_count));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(cut));
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue_fingerprints(executor_, device_bytes(), byte_count));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(fingerprinted));
    return copy_out(output);
  }

  status fingerprint(const chunk_input& input, chunk_output& output) override {
    output = {};
    const std::uint64_t byte_count = size_of(input.buffers);
    CUTPOINT_RETURN_IF_FAILED(check_limits(byte_count, input.begins.size(), work_.max_chunks(), "chunks"));
    CUTPOINT_RETURN_IF_FAILED(check_chunks(input, byte_count));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(called));
    const auto chunk_count = static_cast<std::uint32_t>(input.begins.size());
    const std::uint32_t longest = chunk_count == 0 ? 0 : *std::max_element(input.lengths.begin(), input.lengths.end());
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copying));
    CUTPOINT_RETURN_IF_FAILED(work_.copy_known_chunks(executor_, input.begins, input.lengths));
    CUTPOINT_RETURN_IF_FAILED(copy_bytes(input.buffers));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copied_in));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(cut));
    CUTPOINT_RETURN_IF_FAILED(
        work_.enqueue_known_fingerprints(executor_, device_bytes(), {byte_count, chunk_count, longest}));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(fingerprinted));
    const std::size_t digest_bytes = chunk_count * work_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(executor_.copy_out(results_.digests.data(), work_.digests(), digest_bytes));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copied_out));
    CUTPOINT_RETURN_IF_FAILED(executor_.wait());
    CUTPOINT_RETURN_IF_FAILED(read_times(output.times));
    output.digests = {results_.digests.data(), digest_bytes};
    return {};
  }

  bool is_pinned(const void* memory, std::size_t size) override { return executor_.is_pinned(memory, size); }
  status pin(const void* memory, std::size_t size) override { return executor_.pin(memory, size); }
  void unpin(const void* memory) override { executor_.unpin(memory); }
  std::uint64_t memory_bytes() const noexcept override { return executor_.allocated_bytes(); }
  std::size_t digest_bytes() const noexcept override { return work_.digest_bytes(); }
  int numa_node() const noexcept override { return executor_.numa_node(); }

 private:
  /// Events of the executor, in order.
  enum moment : std::size_t { called, copying, copied_in, cut, fingerprinted, copied_out, event_count };

  /// Host memory for results.
  struct found_chunks {
    template <class T>
    using host_array = typename Executor::template host_array<T>;
    host_array<std::uint32_t> counters;
    host_array<std::uint32_t> lengths;
    host_array<std::uint8_t> digests;

    [[nodiscard]] static result<found_chunks> allocate(Executor& executor, const batch_launcher<Executor>& launcher) {
      found_chunks results;
      if (launcher.cuts()) {
        CUTPOINT_TRY(results.counters, executor.template allocate_on_host<std::uint32_t>(launcher.words().counts() +
                                                                                         launcher.max_partitions()));
        CUTPOINT_TRY(results.lengths, executor.template allocate_on_host<std::uint32_t>(launcher.max_chunks()));
      }
      CUTPOINT_TRY(results.digests,
                   executor.template allocate_on_host<std::uint8_t>(launcher.max_chunks() * launcher.digest_bytes()));
      return result<found_chunks>(std::move(results));
    }
  };

  batch_offload(Executor executor, const batch_limits& limits, typename Executor::template array<bytes16> bytes,
                batch_launcher<Executor> work, found_chunks results)
      : executor_(std::move(executor)),
        limits_(limits),
        bytes_(std::move(bytes)),
        work_(std::move(work)),
        results_(std::move(results)) {}

  [[nodiscard]] std::uint8_t* device_bytes() const { return reinterpret_cast<std::uint8_t*>(bytes_.data()); }

  [[nodiscard]] static std::uint64_t size_of(std::span<const byte_span> buffers) {
    std::uint64_t bytes = 0;
    for (const byte_span& buffer : buffers) bytes += buffer.size();
    return bytes;
  }

  [[nodiscard]] status check_limits(std::uint64_t bytes, std::uint64_t count, std::uint64_t most,
                                    const char* what) const {
    if (bytes <= limits_.bytes && count <= most) return {};
    return {status_code::invalid_argument, "a batch of " + std::to_string(bytes) + " bytes and " +
                                               std::to_string(count) + " " + what + " is more than " +
                                               std::to_string(limits_.bytes) + " and " + std::to_string(most)};
  }

  [[nodiscard]] status check_chunks(const chunk_input& input, std::uint64_t byte_count) const {
    const auto wrong = [](std::string why) { return status(status_code::invalid_argument, std::move(why)); };
    if (work_.digest_bytes() == 0) return wrong("no device makes this fingerprint");
    if (input.lengths.size() != input.begins.size()) {
      return wrong(std::to_string(input.begins.size()) + " chunks are given with " +
                   std::to_string(input.lengths.size()) + " lengths");
    }
    std::uint64_t end = 0;  // of the previous chunk
    for (std::size_t i = 0; i < input.begins.size(); ++i) {
      const std::uint64_t begin = input.begins[i];
      if (begin < end) {
        return wrong("chunk " + std::to_string(i) + " begins at " + std::to_string(begin) + ", before the end at " +
                     std::to_string(end) + " of the one before it");
      }
      if (begin > byte_count || input.lengths[i] > byte_count - begin) {
        return wrong("chunk " + std::to_string(i) + " of " + std::to_string(input.lengths[i]) + " bytes at " +
                     std::to_string(begin) + " ends after the batch of " + std::to_string(byte_count));
      }
      end = begin + input.lengths[i];
    }
    return {};
  }

  [[nodiscard]] status copy_bytes(std::span<const byte_span> buffers) {
    std::uint64_t position = 0;
    for (const byte_span& buffer : buffers) {
      CUTPOINT_RETURN_IF_FAILED(executor_.copy_in(device_bytes() + position, buffer.data(), buffer.size()));
      position += buffer.size();
    }
    return {};
  }

  /// Reads the times of the steps. The caller has waited for the last event.
  [[nodiscard]] status read_times(batch_times& times) {
    std::array<double, event_count> event_seconds{};
    for (std::size_t i = copying; i < event_count; ++i) {
      CUTPOINT_TRY(event_seconds[i], executor_.seconds_between(called, i));
    }
    times = {.copying_in = {event_seconds[copying], event_seconds[copied_in]},
             .cutting = {event_seconds[copied_in], event_seconds[cut]},
             .fingerprinting = {event_seconds[cut], event_seconds[fingerprinted]},
             .copying_out = {event_seconds[fingerprinted], event_seconds[copied_out]}};
    return {};
  }

  /// Copies the counts out first, so that only as many chunks are copied.
  status copy_out(batch_output& output) {
    const std::size_t partition_count = work_.partitions().size();
    const std::uint32_t* const counters = results_.counters.data();
    CUTPOINT_RETURN_IF_FAILED(
        executor_.copy_out(results_.counters.data(), work_.counters(), work_.words().counts() + partition_count));
    CUTPOINT_RETURN_IF_FAILED(executor_.wait());
    if (counters[counter_words::overflowed] != 0) return {};
    const std::size_t chunk_count = counters[counter_words::chunk_count];
    const std::size_t digest_bytes = chunk_count * work_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(executor_.copy_out(results_.lengths.data(), work_.chunks().lengths, chunk_count));
    CUTPOINT_RETURN_IF_FAILED(executor_.copy_out(results_.digests.data(), work_.digests(), digest_bytes));
    CUTPOINT_RETURN_IF_FAILED(executor_.record_event(copied_out));
    CUTPOINT_RETURN_IF_FAILED(executor_.wait());
    CUTPOINT_RETURN_IF_FAILED(read_times(output.times));
    output.lengths = {results_.lengths.data(), chunk_count};
    output.digests = {results_.digests.data(), digest_bytes};
    output.stream_ranges = chunks_of_stream_ranges();
    output.is_complete = true;
    return {};
  }

  /// Computes the chunks of each stream range from the counts of its partitions.
  std::span<const stream_range_chunks> chunks_of_stream_ranges() {
    stream_ranges_.clear();
    const std::uint32_t* const counts = results_.counters.data() + work_.words().counts();
    std::uint64_t number = 0;
    for (std::size_t k = 0; k < work_.partitions().size(); ++k) {
      const partition& each = work_.partitions()[k];
      if (each.is_first != 0) stream_ranges_.push_back({.first = number, .count = 0, .next = each.begin});
      for (std::uint32_t i = 0; i < counts[k]; ++i) stream_ranges_.back().next += results_.lengths.data()[number++];
      stream_ranges_.back().count += counts[k];
    }
    return stream_ranges_;
  }

  // Declared first, so that memory is freed before the executor is destroyed.
  Executor executor_;
  batch_limits limits_;
  typename Executor::template array<bytes16> bytes_;
  batch_launcher<Executor> work_;
  found_chunks results_;
  std::vector<stream_range_chunks> stream_ranges_;
};

/// Makes the launcher of the chunker's cuts on an executor. Errors: those of the executor.
template <class Executor>
[[nodiscard]] result<std::unique_ptr<cut_launcher<Executor>>> make_cut_launcher(Executor& executor,
                                                                                const chunker& cuts) {
  return std::visit(
      [&](const auto& filled) -> result<std::unique_ptr<cut_launcher<Executor>>> {
        const auto specification = make_specification(filled);
        return cut_launcher_for<Executor, std::remove_const_t<decltype(specification)>>::make(executor, specification);
      },
      cuts.parameters());
}

[[nodiscard]] inline chunk_estimates sizes_of(const chunker& cuts) {
  return std::visit([](const auto& filled) { return make_specification(filled).sizes; }, cuts.parameters());
}

/// Does the work of `make_offload` on an executor.
template <class Executor>
[[nodiscard]] result<std::unique_ptr<offload>> make_batch_offload(Executor executor, const chunker& cuts,
                                                                  const fingerprint_recipe& fingerprint,
                                                                  const batch_limits& limits, offload_use use) {
  if (use == offload_use::fingerprint) {
    batch_limits known = limits;
    if (known.chunks == 0) known.chunks = plan_partitions(sizes_of(cuts), limits).max_chunks;
    return batch_offload<Executor>::make(std::move(executor), nullptr, fingerprint, known);
  }
  CUTPOINT_TRY(auto launcher, make_cut_launcher(executor, cuts));
  return batch_offload<Executor>::make(std::move(executor), std::move(launcher), fingerprint, limits);
}

}  // namespace cutpoint::cuda
