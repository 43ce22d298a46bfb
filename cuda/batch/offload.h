// A batch of streams cut and fingerprinted on a device in one submission, or chunks that are known fingerprinted. Plain
// C++, whether or not the build has a CUDA compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

#include "cuda/kernel/packed_bytes.h"

namespace cutpoint::cuda {

/// What a batch may hold at most. Memory for it is taken once.
struct batch_limits {
  std::uint64_t bytes = 0;          ///< less than 4 GiB
  std::uint64_t stream_ranges = 1;  ///< that are cut
  /// That are known and fingerprinted. 0: as many as there is room for when as much is cut.
  std::uint64_t chunks = 0;
};

/// What an offload is for, and has memory for.
enum class offload_use {
  cut,          ///< `run`, with fingerprints where the device makes them, and `fingerprint`
  fingerprint,  ///< `fingerprint` alone; the algorithm may be one that no device cuts by
};

/// Bytes, and the streams in them.
struct batch_input {
  std::span<const byte_span> parts;             ///< one after the other: position 0 is the first byte of the first part
  std::span<const stream_range> stream_ranges;  ///< ascending; none begins before the one before it ends
};

/// The chunks of one stream range.
struct stream_range_chunks {
  std::uint64_t first = 0;  ///< number of its first chunk
  std::uint64_t count = 0;
  std::uint64_t next = 0;  ///< where the next chunk would begin: the stream range's end, or what is undecided
};

/// Bytes, and the chunks in them, which are known. A chunk may be empty.
struct chunk_input {
  std::span<const byte_span> parts;        ///< one after the other: position 0 is the first byte of the first part
  std::span<const std::uint64_t> begins;   ///< positions, ascending; none before the end of the chunk before it
  std::span<const std::uint32_t> lengths;  ///< as many
};

/// Seconds from the beginning of a call.
struct time_span {
  double begin = 0;
  double end = 0;

  [[nodiscard]] double seconds() const noexcept { return end - begin; }
};

/// When the parts of a batch were at work, in this order and none before the end of the one before it. On a device by its
/// own clock, in the order of its stream: waiting for the link, or for kernels of other streams, counts as work.
struct batch_times {
  time_span copying_in;
  time_span cutting;         ///< next to nothing where chunks are known
  time_span fingerprinting;  ///< next to nothing where none are made
  time_span copying_out;
};

/// Chunks in the order of positions. Views of memory that the offload keeps until its next batch.
struct batch_output {
  /// False: the batch had more chunks than there was room for, since they were so much shorter than the algorithm's
  /// shortest usual ones, and nothing was found.
  bool is_complete = false;
  std::span<const std::uint32_t> lengths;
  std::span<const std::uint8_t> digests;  ///< of `digest_bytes` each; empty where none are made
  std::span<const stream_range_chunks> stream_ranges;
  batch_times times;  ///< zeros where nothing was found
};

/// Fingerprints of known chunks, in their order. A view of memory that the offload keeps until its next batch.
struct chunk_output {
  std::span<const std::uint8_t> digests;  ///< of `digest_bytes` each
  batch_times times;
};

/// A stream of work on a device, with its memory. Any number at once; each is used by one thread at a time.
class offload {
 public:
  virtual ~offload() = default;

  /// Copies a batch in, cuts and fingerprints it, copies what was found out, and returns when that is done. The cuts are
  /// those of the sequential algorithm: of a stream range whose stream does not end with it, as far as they are decided by
  /// `reach()` bytes. Errors: memory_limit and backend_failure, for what the device refuses; a device that has failed
  /// fails again; invalid_argument, for more than the limits, and of one that was made to fingerprint.
  [[nodiscard]] virtual status run(const batch_input& input, batch_output& output) = 0;

  /// Copies bytes in, fingerprints the chunks in them, copies the digests out, and returns when that is done. Errors: as
  /// `run`; invalid_argument, also for chunks that overlap or are not within the bytes, and where `digest_bytes` is 0.
  [[nodiscard]] virtual status fingerprint(const chunk_input& input, chunk_output& output) = 0;

  /// Locks memory that is copied from, which makes copies faster. What fails is only that.
  [[nodiscard]] virtual status pin(void* memory, std::size_t size) = 0;
  virtual void unpin(void* memory) = 0;

  /// Bytes of the device's memory that it holds.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
  /// 0 where fingerprints are not made on the device.
  [[nodiscard]] virtual std::size_t digest_bytes() const noexcept = 0;
  /// Node of the host's memory that is nearest to the device; -1 where unknown.
  [[nodiscard]] virtual int numa_node() const noexcept = 0;
};

/// Work of one kind on a device. Errors: unavailable, as `devices()` says, or for a device that this build has no code
/// for; invalid_argument, for a device that is not there; memory_limit, when it has not enough memory left;
/// backend_failure. Throws std::bad_alloc. Thread-safe.
[[nodiscard]] result<std::unique_ptr<offload>> make_offload(int device, const chunker& cuts,
                                                            const fingerprint_recipe& fingerprint,
                                                            const batch_limits& limits,
                                                            offload_use use = offload_use::cut);

}  // namespace cutpoint::cuda
