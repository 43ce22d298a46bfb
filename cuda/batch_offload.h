// Batches of host memory on a machine: copied in, cut and fingerprinted, and what was found copied out.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/batch.h"
#include "cuda/offload.h"

namespace cutpoint::cuda {

template <class Machine>
class batch_offload final : public offload {
 public:
  /// Takes all memory that batches within the limits will need. `cutting` was made on the machine.
  [[nodiscard]] static result<std::unique_ptr<offload>> make(Machine machine, std::unique_ptr<slicer<Machine>> cutting,
                                                             const fingerprint_recipe& fingerprint,
                                                             const batch_limits& limits) {
    auto bytes = machine.template allocate<bytes16>(limits.bytes / sizeof(bytes16) + 1);
    if (!bytes) return bytes.error();
    auto work = batch<Machine>::make(machine, std::move(cutting), fingerprint, limits);
    if (!work) return work.error();
    auto found = found_chunks::allocate(machine, work->how(), work->digest_bytes());
    if (!found) return found.error();
    return std::unique_ptr<offload>(
        new batch_offload(std::move(machine), limits, std::move(*bytes), std::move(*work), std::move(*found)));
  }

  status run(const batch_input& input, batch_output& output) override {
    output = {};
    std::uint64_t byte_count = 0;
    for (const byte_span& part : input.parts) byte_count += part.size();
    if (byte_count > limits_.bytes || input.pieces.size() > limits_.pieces) {
      return {status_code::invalid_argument,
              "a batch of " + std::to_string(byte_count) + " bytes and " + std::to_string(input.pieces.size()) +
                  " pieces is more than " + std::to_string(limits_.bytes) + " and " + std::to_string(limits_.pieces)};
    }
    CUTPOINT_RETURN_IF_FAILED(work_.slice_up(machine_, input.pieces));
    std::uint64_t position = 0;
    for (const byte_span& part : input.parts) {
      CUTPOINT_RETURN_IF_FAILED(machine_.copy_in(device_bytes() + position, part.data(), part.size()));
      position += part.size();
    }
    CUTPOINT_RETURN_IF_FAILED(work_.enqueue(machine_, device_bytes(), byte_count));
    return copy_out(output);
  }

  status pin(void* memory, std::size_t size) override { return machine_.pin(memory, size); }
  void unpin(void* memory) override { machine_.unpin(memory); }
  std::uint64_t memory_bytes() const noexcept override { return machine_.allocated_bytes(); }
  std::size_t digest_bytes() const noexcept override { return work_.digest_bytes(); }

 private:
  /// Host memory that results are copied to.
  struct found_chunks {
    template <class T>
    using host_array = typename Machine::template host_array<T>;
    host_array<std::uint32_t> counts;  ///< of each slice, then whether they overflowed, then their sum
    host_array<std::uint32_t> lengths;
    host_array<std::uint8_t> digests;

    [[nodiscard]] static result<found_chunks> allocate(Machine& on, const slice_plan& how, std::size_t digest_bytes) {
      found_chunks found;
      CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate_on_host<std::uint32_t>(how.most_slices + 2), found.counts));
      CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate_on_host<std::uint32_t>(how.most_chunks), found.lengths));
      CUTPOINT_RETURN_IF_FAILED(
          keep(on.template allocate_on_host<std::uint8_t>(how.most_chunks * digest_bytes), found.digests));
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

  /// How many there are first, so that no more is copied than that.
  status copy_out(batch_output& output) {
    const std::size_t slice_count = work_.slices().size();
    const batch_room<Machine>& there = work_.found();
    std::uint32_t* const counts = found_.counts.data();
    std::uint32_t* const overflowed = counts + slice_count;
    std::uint32_t* const chunk_count = overflowed + 1;
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(counts, there.counts.data(), slice_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(overflowed, there.overflowed.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(chunk_count, there.chunk_count.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
    if (*overflowed != 0) return {};
    const std::size_t digest_bytes = *chunk_count * work_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.lengths.data(), there.lengths.data(), *chunk_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.digests.data(), work_.digests(), digest_bytes));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
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
