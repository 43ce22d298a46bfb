// Batches of host memory on a machine: copied in, cut and fingerprinted, or fingerprinted alone, and what was found copied
// out.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/batch.h"
#include "cuda/offload.h"

namespace cutpoint::cuda {

template <class Machine>
class batch_offload final : public offload {
 public:
  /// Takes all memory that batches within the limits will need. `cutting` was made on the machine; null where all chunks
  /// are known.
  [[nodiscard]] static result<std::unique_ptr<offload>> make(Machine machine, std::unique_ptr<slicer<Machine>> cutting,
                                                             const fingerprint_recipe& fingerprint,
                                                             const batch_limits& limits) {
    auto bytes = machine.template allocate<bytes16>(limits.bytes / sizeof(bytes16) + 1);
    if (!bytes) return bytes.error();
    auto work = batch<Machine>::make(machine, std::move(cutting), fingerprint, limits);
    if (!work) return work.error();
    auto found = found_chunks::allocate(machine, *work);
    if (!found) return found.error();
    CUTPOINT_RETURN_IF_FAILED(machine.reserve_marks(mark_count));
    return std::unique_ptr<offload>(
        new batch_offload(std::move(machine), limits, std::move(*bytes), std::move(*work), std::move(*found)));
  }

  status run(const batch_input& input, batch_output& output) override {
    output = {};
    if (!work_.cuts()) {
      return {status_code::invalid_argument, "an offload that was made to fingerprint does not cut"};
    }
    const std::uint64_t byte_count = size_of(input.parts);
    CUTPOINT_RETURN_IF_FAILED(check_limits(byte_count, input.pieces.size(), limits_.pieces, "pieces"));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(called));
    work_.slice_up(input.pieces);
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copying));
    CUTPOINT_RETURN_IF_FAILED(work_.copy_slices(machine_, input.pieces));
    CUTPOINT_RETURN_IF_FAILED(copy_bytes(input.parts));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copied_in));
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue_cuts(machine_, device_bytes(), byte_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(cut));
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue_fingerprints(machine_, device_bytes(), byte_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(fingerprinted));
    return copy_out(output);
  }

  status fingerprint(const chunk_input& input, chunk_output& output) override {
    output = {};
    const std::uint64_t byte_count = size_of(input.parts);
    CUTPOINT_RETURN_IF_FAILED(check_limits(byte_count, input.begins.size(), work_.most_chunks(), "chunks"));
    CUTPOINT_RETURN_IF_FAILED(check_chunks(input, byte_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(called));
    const auto chunk_count = static_cast<std::uint32_t>(input.begins.size());
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copying));
    CUTPOINT_RETURN_IF_FAILED(work_.copy_chunks(machine_, input.begins, input.lengths, &chunk_count));
    CUTPOINT_RETURN_IF_FAILED(copy_bytes(input.parts));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copied_in));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(cut));
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue_known(machine_, device_bytes(), byte_count, chunk_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(fingerprinted));
    const std::size_t digest_bytes = chunk_count * work_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.digests.data(), work_.digests(), digest_bytes));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copied_out));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
    CUTPOINT_RETURN_IF_FAILED(read_times(output.times));
    output.digests = {found_.digests.data(), digest_bytes};
    return {};
  }

  status pin(void* memory, std::size_t size) override { return machine_.pin(memory, size); }
  void unpin(void* memory) override { machine_.unpin(memory); }
  std::uint64_t memory_bytes() const noexcept override { return machine_.allocated_bytes(); }
  std::size_t digest_bytes() const noexcept override { return work_.digest_bytes(); }
  int numa_node() const noexcept override { return machine_.numa_node(); }

 private:
  /// Marks of the machine.
  enum moment : std::size_t { called, copying, copied_in, cut, fingerprinted, copied_out, mark_count };

  /// Host memory that results are copied to.
  struct found_chunks {
    template <class T>
    using host_array = typename Machine::template host_array<T>;
    host_array<std::uint32_t> counts;  ///< of each slice, then whether they overflowed, then their sum
    host_array<std::uint32_t> lengths;
    host_array<std::uint8_t> digests;

    [[nodiscard]] static result<found_chunks> allocate(Machine& on, const batch<Machine>& of) {
      found_chunks found;
      if (of.cuts()) {
        CUTPOINT_RETURN_IF_FAILED(
            keep(on.template allocate_on_host<std::uint32_t>(of.most_slices() + 2), found.counts));
        CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate_on_host<std::uint32_t>(of.most_chunks()), found.lengths));
      }
      CUTPOINT_RETURN_IF_FAILED(
          keep(on.template allocate_on_host<std::uint8_t>(of.most_chunks() * of.digest_bytes()), found.digests));
      return result<found_chunks>(std::move(found));
    }
  };

  batch_offload(Machine machine, const batch_limits& limits, typename Machine::template array<bytes16> bytes,
                batch<Machine> work, found_chunks found)
      : machine_(std::move(machine)),
        limits_(limits),
        bytes_(std::move(bytes)),
        work_(std::move(work)),
        found_(std::move(found)) {}

  [[nodiscard]] std::uint8_t* device_bytes() const { return reinterpret_cast<std::uint8_t*>(bytes_.data()); }

  [[nodiscard]] static std::uint64_t size_of(std::span<const byte_span> parts) {
    std::uint64_t bytes = 0;
    for (const byte_span& part : parts) bytes += part.size();
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
    if (work_.digest_bytes() == 0) return wrong("a device makes the fingerprints sha1, sha256 and blake3 alone");
    if (input.lengths.size() != input.begins.size()) {
      return wrong(std::to_string(input.begins.size()) + " chunks are given with " +
                   std::to_string(input.lengths.size()) + " lengths");
    }
    std::uint64_t end = 0;  // of the chunk before
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

  [[nodiscard]] status copy_bytes(std::span<const byte_span> parts) {
    std::uint64_t position = 0;
    for (const byte_span& part : parts) {
      CUTPOINT_RETURN_IF_FAILED(machine_.copy_in(device_bytes() + position, part.data(), part.size()));
      position += part.size();
    }
    return {};
  }

  /// Once the last mark has been waited for.
  [[nodiscard]] status read_times(batch_times& into) {
    std::array<double, mark_count> at{};
    for (std::size_t i = copying; i < mark_count; ++i) {
      const auto seconds = machine_.seconds_between(called, i);
      if (!seconds) return seconds.error();
      at[i] = *seconds;
    }
    into = {.copying_in = {at[copying], at[copied_in]},
            .cutting = {at[copied_in], at[cut]},
            .fingerprinting = {at[cut], at[fingerprinted]},
            .copying_out = {at[fingerprinted], at[copied_out]}};
    return {};
  }

  /// How many there are first, so that no more is copied than that.
  status copy_out(batch_output& output) {
    const std::size_t slice_count = work_.slices().size();
    const batch_room<Machine>& there = work_.found();
    const chunk_list chunks = work_.chunks().list();
    std::uint32_t* const counts = found_.counts.data();
    std::uint32_t* const overflowed = counts + slice_count;
    std::uint32_t* const chunk_count = overflowed + 1;
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(counts, there.counts.data(), slice_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(overflowed, there.overflowed.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(chunk_count, chunks.count, 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
    if (*overflowed != 0) return {};
    const std::size_t digest_bytes = *chunk_count * work_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.lengths.data(), chunks.lengths, *chunk_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.digests.data(), work_.digests(), digest_bytes));
    CUTPOINT_RETURN_IF_FAILED(machine_.mark(copied_out));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
    CUTPOINT_RETURN_IF_FAILED(read_times(output.times));
    output.lengths = {found_.lengths.data(), *chunk_count};
    output.digests = {found_.digests.data(), digest_bytes};
    output.pieces = chunks_of_pieces();
    output.is_complete = true;
    return {};
  }

  /// From the counts of slices: what each piece has.
  std::span<const piece_chunks> chunks_of_pieces() {
    pieces_.clear();
    std::uint64_t number = 0;
    for (std::size_t k = 0; k < work_.slices().size(); ++k) {
      const slice& of = work_.slices()[k];
      if (of.is_first != 0) pieces_.push_back({.first = number, .count = 0, .next = of.begin});
      for (std::uint32_t i = 0; i < found_.counts.data()[k]; ++i)
        pieces_.back().next += found_.lengths.data()[number++];
      pieces_.back().count += found_.counts.data()[k];
    }
    return pieces_;
  }

  // The machine goes last: its memory before it.
  Machine machine_;
  batch_limits limits_;
  typename Machine::template array<bytes16> bytes_;
  batch<Machine> work_;
  found_chunks found_;
  std::vector<piece_chunks> pieces_;
};

}  // namespace cutpoint::cuda
