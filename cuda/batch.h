// What is done with a batch on a machine, between its bytes and its chunks: both in the machine's memory. One source for
// devices and for the host that stands in for one in tests.
#pragma once

#include <algorithm>
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
  /// Takes all memory that batches within the limits will need, but for their bytes. `cutting` was made on the machine;
  /// null where all chunks are known.
  [[nodiscard]] static result<batch> make(Machine& on, std::unique_ptr<slicer<Machine>> cutting,
                                          const fingerprint_recipe& fingerprint, const batch_limits& limits) {
    batch made;
    made.most_chunks_ = limits.chunks;
    if (cutting) {
      made.how_ = slice_plan_for(cutting->sizes(), limits);
      made.most_chunks_ = std::max(limits.chunks, made.how_.most_chunks);
      CUTPOINT_RETURN_IF_FAILED(
          keep(batch_room<Machine>::allocate(on, made.how_, limits, cutting->levels()), made.room_));
      made.cutting_ = std::move(cutting);
    }
    CUTPOINT_RETURN_IF_FAILED(keep(chunk_room<Machine>::allocate(on, made.most_chunks_), made.chunks_));
    CUTPOINT_RETURN_IF_FAILED(
        keep(chunk_hasher<Machine>::make(on, fingerprint, limits.bytes, made.most_chunks_), made.hashing_));
    CUTPOINT_RETURN_IF_FAILED(on.reserve(made.most_chunks_ + made.how_.most_slices));
    return result<batch>(std::move(made));
  }

  /// Says where the next batches' pieces are.
  void slice_up(std::span<const piece> pieces) {
    slices_.clear();
    for (std::uint32_t i = 0; i < pieces.size(); ++i) append_slices(how_, pieces[i], i, slices_);
  }
  /// Tells the machine of them, once it is done with the last ones.
  [[nodiscard]] status copy_slices(Machine& on, std::span<const piece> pieces) {
    CUTPOINT_RETURN_IF_FAILED(on.wait());
    CUTPOINT_RETURN_IF_FAILED(on.copy_in(room_.pieces.data(), pieces.data(), pieces.size()));
    return on.copy_in(room_.slices.data(), slices_.data(), slices_.size());
  }

  /// Puts the cuts of a batch of such pieces into the machine's stream. `bytes`: aligned to 16, readable up to the next
  /// multiple of 16 past the last.
  [[nodiscard]] status enqueue_cuts(Machine& on, const std::uint8_t* bytes, std::uint64_t byte_count) {
    const slice_job job = room_.job({.bytes = bytes, .byte_count = byte_count},
                                    static_cast<std::uint32_t>(slices_.size()), chunks_.list());
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.batch.overflowed, 1));
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.chunks.count, 1));
    if (slices_.empty()) return {};
    CUTPOINT_RETURN_IF_FAILED(on.clear(job.chunks.lengths, sliced_room()));
    return cutting_->enqueue(on, job);
  }
  /// And then the fingerprints.
  [[nodiscard]] status enqueue_fingerprints(Machine& on, const std::uint8_t* bytes, std::uint64_t byte_count) {
    return slices_.empty() ? status() : hashing_.enqueue(on, bytes, chunks_.list(), byte_count, sliced_room());
  }

  /// Tells the machine of chunks that are known. Their memory stays as it is until the machine has been waited for.
  [[nodiscard]] status copy_chunks(Machine& on, std::span<const std::uint64_t> begins,
                                   std::span<const std::uint32_t> lengths, const std::uint32_t* count) {
    CUTPOINT_RETURN_IF_FAILED(on.copy_in(chunks_.begins.data(), begins.data(), begins.size()));
    CUTPOINT_RETURN_IF_FAILED(on.copy_in(chunks_.lengths.data(), lengths.data(), lengths.size()));
    return on.copy_in(chunks_.count.data(), count, 1);
  }
  /// Puts the fingerprints of so many known chunks into the machine's stream.
  [[nodiscard]] status enqueue_known(Machine& on, const std::uint8_t* bytes, std::uint64_t byte_count,
                                     std::uint64_t chunk_count) {
    return hashing_.enqueue(on, bytes, chunks_.list(), byte_count, chunk_count);
  }

  [[nodiscard]] bool cuts() const noexcept { return cutting_ != nullptr; }
  [[nodiscard]] std::uint64_t most_chunks() const noexcept { return most_chunks_; }
  [[nodiscard]] std::uint64_t most_slices() const noexcept { return how_.most_slices; }
  [[nodiscard]] const std::vector<slice>& slices() const { return slices_; }
  /// Where a batch's chunks are when the stream has got there; what is beyond `most_chunks` is not used.
  [[nodiscard]] const batch_room<Machine>& found() const { return room_; }
  [[nodiscard]] const chunk_room<Machine>& chunks() const { return chunks_; }
  [[nodiscard]] const std::uint8_t* digests() const { return hashing_.digests(); }
  [[nodiscard]] std::size_t digest_bytes() const noexcept { return hashing_.digest_bytes(); }

 private:
  batch() = default;

  /// Chunks that the slices have room for.
  [[nodiscard]] std::uint64_t sliced_room() const { return slices_.back().row + slices_.back().room; }

  std::unique_ptr<slicer<Machine>> cutting_;  ///< null: chunks are known
  slice_plan how_;
  std::uint64_t most_chunks_ = 0;
  batch_room<Machine> room_;
  chunk_room<Machine> chunks_;
  chunk_hasher<Machine> hashing_;
  std::vector<slice> slices_;
};

}  // namespace cutpoint::cuda
