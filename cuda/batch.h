// A batch on a machine: copied in, cut, fingerprinted, and what was found copied out. One source for devices and for the
// host that stands in for one in tests.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "cuda/batch_room.h"
#include "cuda/chunk_hasher.h"
#include "cuda/offload.h"
#include "cuda/return_if_failed.h"

namespace cutpoint::cuda {

template <class Machine>
class batch_offload final : public offload {
 public:
  /// Takes all memory that batches within the limits will need. `cutting` was made on the machine.
  [[nodiscard]] static result<std::unique_ptr<offload>> make(Machine machine, std::unique_ptr<slicer<Machine>> cutting,
                                                             const fingerprint_recipe& fingerprint,
                                                             const batch_limits& limits) {
    const slice_plan how = slice_plan_for(cutting->sizes(), limits);
    auto bytes = machine.template allocate<bytes16>(limits.bytes / sizeof(bytes16) + 1);
    if (!bytes) return bytes.error();
    auto room = batch_room<Machine>::allocate(machine, how, limits, cutting->levels());
    if (!room) return room.error();
    auto hashing = chunk_hasher<Machine>::make(machine, fingerprint, limits.bytes, how.most_chunks);
    if (!hashing) return hashing.error();
    auto found = found_chunks::allocate(machine, how, hashing->digest_bytes());
    if (!found) return found.error();
    CUTPOINT_RETURN_IF_FAILED(machine.reserve(how.most_chunks + how.most_slices));
    return std::unique_ptr<offload>(new batch_offload(std::move(machine), std::move(cutting), how, limits,
                                                      std::move(*bytes), std::move(*room), std::move(*hashing),
                                                      std::move(*found)));
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
    slices_.clear();
    for (std::uint32_t i = 0; i < input.pieces.size(); ++i) append_slices(how_, input.pieces[i], i, slices_);
    if (slices_.empty()) {
      output.is_complete = true;
      return {};
    }
    CUTPOINT_RETURN_IF_FAILED(copy_in(input));
    CUTPOINT_RETURN_IF_FAILED(work(byte_count));
    CUTPOINT_RETURN_IF_FAILED(copy_out(output));
    return {};
  }

  status pin(void* memory, std::size_t size) override { return machine_.pin(memory, size); }
  void unpin(void* memory) override { machine_.unpin(memory); }
  std::size_t digest_bytes() const noexcept override { return hashing_.digest_bytes(); }

 private:
  /// Host memory that results are copied to.
  struct found_chunks {
    template <class T>
    using host_array = typename Machine::template host_array<T>;
    host_array<std::uint32_t> counts;  ///< of each slice, then whether they overflowed, then their sum
    host_array<std::uint32_t> lengths;
    host_array<std::uint8_t> digests;

    [[nodiscard]] static result<found_chunks> allocate(Machine& on, const slice_plan& how, std::size_t digest_bytes) {
      auto counts = on.template allocate_on_host<std::uint32_t>(how.most_slices + 2);
      if (!counts) return counts.error();
      auto lengths = on.template allocate_on_host<std::uint32_t>(how.most_chunks);
      if (!lengths) return lengths.error();
      auto digests = on.template allocate_on_host<std::uint8_t>(how.most_chunks * digest_bytes);
      if (!digests) return digests.error();
      return found_chunks{std::move(*counts), std::move(*lengths), std::move(*digests)};
    }
  };

  batch_offload(Machine machine, std::unique_ptr<slicer<Machine>> cutting, const slice_plan& how,
                const batch_limits& limits, typename Machine::template array<bytes16> bytes, batch_room<Machine> room,
                chunk_hasher<Machine> hashing, found_chunks found)
      : machine_(std::move(machine)),
        cutting_(std::move(cutting)),
        how_(how),
        limits_(limits),
        bytes_(std::move(bytes)),
        room_(std::move(room)),
        hashing_(std::move(hashing)),
        found_(std::move(found)) {}

  [[nodiscard]] std::uint8_t* device_bytes() const { return reinterpret_cast<std::uint8_t*>(bytes_.data()); }

  status copy_in(const batch_input& input) {
    std::uint64_t position = 0;
    for (const byte_span& part : input.parts) {
      CUTPOINT_RETURN_IF_FAILED(machine_.copy_in(device_bytes() + position, part.data(), part.size()));
      position += part.size();
    }
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_in(room_.pieces.data(), input.pieces.data(), input.pieces.size()));
    return machine_.copy_in(room_.slices.data(), slices_.data(), slices_.size());
  }

  status work(std::uint64_t byte_count) {
    const auto slice_count = static_cast<std::uint32_t>(slices_.size());
    const slice_job job = room_.job({.bytes = device_bytes(), .byte_count = byte_count}, slice_count);
    const std::uint64_t most_chunks = slices_.back().row + slices_.back().room;
    CUTPOINT_RETURN_IF_FAILED(machine_.clear(job.overflowed, 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.clear(job.chunks.lengths, most_chunks));
    CUTPOINT_RETURN_IF_FAILED(cutting_->enqueue(machine_, job));
    return hashing_.enqueue(machine_, device_bytes(), job.chunks, byte_count, most_chunks);
  }

  status copy_out(batch_output& output) {
    const std::size_t slice_count = slices_.size();
    std::uint32_t* const counts = found_.counts.data();
    std::uint32_t* const overflowed = counts + slice_count;
    std::uint32_t* const chunk_count = overflowed + 1;
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(counts, room_.counts.data(), slice_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(overflowed, room_.overflowed.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(chunk_count, room_.chunk_count.data(), 1));
    CUTPOINT_RETURN_IF_FAILED(machine_.wait());
    if (*overflowed != 0) return {};
    const std::size_t digest_bytes = *chunk_count * hashing_.digest_bytes();
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.lengths.data(), room_.lengths.data(), *chunk_count));
    CUTPOINT_RETURN_IF_FAILED(machine_.copy_out(found_.digests.data(), hashing_.digests(), digest_bytes));
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
    for (std::size_t k = 0; k < slices_.size(); ++k) {
      if (slices_[k].is_first != 0) pieces_.push_back({.first = number, .count = 0, .next = slices_[k].begin});
      for (std::uint32_t i = 0; i < found_.counts.data()[k]; ++i)
        pieces_.back().next += found_.lengths.data()[number++];
      pieces_.back().count += found_.counts.data()[k];
    }
    return pieces_;
  }

  // The machine goes last: its memory before it.
  Machine machine_;
  std::unique_ptr<slicer<Machine>> cutting_;
  slice_plan how_;
  batch_limits limits_;
  typename Machine::template array<bytes16> bytes_;
  batch_room<Machine> room_;
  chunk_hasher<Machine> hashing_;
  found_chunks found_;
  std::vector<slice> slices_;
  std::vector<piece_chunks> pieces_;
};

}  // namespace cutpoint::cuda
