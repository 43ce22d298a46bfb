// What is done with a batch on a machine, between its bytes and its chunks: both in the machine's memory. One source for
// devices and for the host that stands in for one in tests.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/batch_room.h"
#include "cuda/chunk_hasher.h"
#include "cuda/return_if_failed.h"

namespace cutpoint::cuda {

template <class Machine>
class batch {
 public:
  /// Takes all memory that batches within the limits will need, but for their bytes. `cutting` was made on the machine.
  [[nodiscard]] static result<batch> make(Machine& on, std::unique_ptr<slicer<Machine>> cutting,
                                          const fingerprint_recipe& fingerprint, const batch_limits& limits) {
    const slice_plan how = slice_plan_for(cutting->sizes(), limits);
    auto room = batch_room<Machine>::allocate(on, how, limits, cutting->levels());
    if (!room) return room.error();
    auto hashing = chunk_hasher<Machine>::make(on, fingerprint, limits.bytes, how.most_chunks);
    if (!hashing) return hashing.error();
    CUTPOINT_RETURN_IF_FAILED(on.reserve(how.most_chunks + how.most_slices));
    return result<batch>(batch(std::move(cutting), how, std::move(*room), std::move(*hashing)));
  }

  /// Says where the next batches' pieces are. Waits for what is done with the last ones.
  [[nodiscard]] status slice_up(Machine& on, std::span<const piece> pieces) {
    slices_.clear();
    for (std::uint32_t i = 0; i < pieces.size(); ++i) append_slices(how_, pieces[i], i, slices_);
    CUTPOINT_RETURN_IF_FAILED(on.wait());
    CUTPOINT_RETURN_IF_FAILED(on.copy_in(room_.pieces.data(), pieces.data(), pieces.size()));
    return on.copy_in(room_.slices.data(), slices_.data(), slices_.size());
  }

  /// Puts the work on a batch of such pieces into the machine's stream. `bytes`: aligned to 16, readable up to the next
  /// multiple of 16 past the last.
  [[nodiscard]] status enqueue(Machine& on, const std::uint8_t* bytes, std::uint64_t byte_count) {
    const slice_job job =
        room_.job({.bytes = bytes, .byte_count = byte_count}, static_cast<std::uint32_t>(slices_.size()));
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.batch.overflowed, 1));
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.chunks.count, 1));
    if (slices_.empty()) return {};
    const std::uint64_t most_chunks = slices_.back().row + slices_.back().room;
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.chunks.lengths, most_chunks));
    CUTPOINT_RETURN_IF_FAILED(cutting_->enqueue(on, job));
    return hashing_.enqueue(on, bytes, job.chunks, byte_count, most_chunks);
  }

  [[nodiscard]] const slice_plan& how() const { return how_; }
  [[nodiscard]] const std::vector<slice>& slices() const { return slices_; }
  /// Where a batch's chunks are when the stream has got there; what is beyond `most_chunks` is not used.
  [[nodiscard]] const batch_room<Machine>& found() const { return room_; }
  [[nodiscard]] const std::uint8_t* digests() const { return hashing_.digests(); }
  [[nodiscard]] std::size_t digest_bytes() const noexcept { return hashing_.digest_bytes(); }

 private:
  batch(std::unique_ptr<slicer<Machine>> cutting, const slice_plan& how, batch_room<Machine> room,
        chunk_hasher<Machine> hashing)
      : cutting_(std::move(cutting)), how_(how), room_(std::move(room)), hashing_(std::move(hashing)) {}

  std::unique_ptr<slicer<Machine>> cutting_;
  slice_plan how_;
  batch_room<Machine> room_;
  chunk_hasher<Machine> hashing_;
  std::vector<slice> slices_;
};

}  // namespace cutpoint::cuda
