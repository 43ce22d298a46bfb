// Interface of batches on a device: cuts and fingerprints streams, or fingerprints known chunks, in one submission. Plain
// C++, with or without a CUDA compiler.
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

/// The limits of a batch. Memory for them is allocated once.
struct batch_limits {
  std::uint64_t bytes = 0;          ///< less than 4 GiB
  std::uint64_t stream_ranges = 1;  ///< stream ranges that are cut
  /// Known chunks that are fingerprinted. 0: as many chunks as cutting a batch of this size may give.
  std::uint64_t chunks = 0;
};

/// The calls that an offload has memory for.
enum class offload_use {
  cut,          ///< `run`, with fingerprints if the device makes them, and `fingerprint`
  fingerprint,  ///< `fingerprint` alone; the algorithm may be one that devices do not cut by
};

struct batch_input {
  std::span<const byte_span> buffers;  ///< one after the other: position 0 is the first byte of the first buffer
  std::span<const stream_range> stream_ranges;  ///< ascending, without overlap
};

struct stream_range_chunks {
  std::uint64_t first = 0;  ///< index of its first chunk
  std::uint64_t count = 0;
  std::uint64_t next = 0;  ///< begin of the next chunk: the stream range's end, or the first undecided position
};

/// Bytes, and the known chunks in them. A chunk may be empty.
struct chunk_input {
  std::span<const byte_span> buffers;      ///< one after the other: position 0 is the first byte of the first buffer
  std::span<const std::uint64_t> begins;   ///< positions, ascending; chunks do not overlap
  std::span<const std::uint32_t> lengths;  ///< one for each of `begins`
};

/// A span of time, in seconds since the beginning of a call.
struct time_span {
  double begin = 0;
  double end = 0;

  [[nodiscard]] double seconds() const noexcept { return end - begin; }
};

/// The times of the steps of a batch. The steps follow each other in this order, without overlap. On a device they are by
/// its own clock, in the order of its stream: waiting for the link, or for kernels of other streams, counts as work.
struct batch_times {
  time_span copying_in;
  time_span cutting;         ///< about 0 if the chunks are known
  time_span fingerprinting;  ///< about 0 without fingerprints
  time_span copying_out;
};

/// Chunks in the order of positions. The spans view memory that the offload keeps until its next batch.
struct batch_output {
  /// False if the batch had more chunks than the memory holds, because they were much shorter than the algorithm's usual
  /// minimum. The other members are then empty.
  bool is_complete = false;
  std::span<const std::uint32_t> lengths;
  std::span<const std::uint8_t> digests;  ///< `digest_bytes` for each chunk; empty without fingerprints
  std::span<const stream_range_chunks> stream_ranges;
  batch_times times;
};

/// Digests of known chunks, in their order. The span views memory that the offload keeps until its next batch.
struct chunk_output {
  std::span<const std::uint8_t> digests;  ///< `digest_bytes` for each chunk
  batch_times times;
};

/// A stream of work on a device, with its memory. Several may exist; each is used by one thread at a time.
class offload {
 public:
  virtual ~offload() = default;

  /// Copies a batch in, cuts and fingerprints it, copies the results out, and returns when that is done. The cuts are those
  /// of the sequential algorithm. If a stream does not end with its stream range, only chunks that `reach()` bytes decide
  /// are found. Errors: memory_limit and backend_failure, if the device refuses a call (a device that has failed fails
  /// again); invalid_argument, if the batch exceeds the limits, or for `offload_use::fingerprint`.
  [[nodiscard]] virtual status run(const batch_input& input, batch_output& output) = 0;

  /// Copies bytes in, fingerprints the chunks in them, copies the digests out, and returns when that is done. Errors: as
  /// `run`; invalid_argument, also for chunks that overlap or are not within the bytes, and if `digest_bytes` is 0.
  [[nodiscard]] virtual status fingerprint(const chunk_input& input, chunk_output& output) = 0;

  /// Whether host memory of at least one byte is locked already, by whomever. Its first and last byte answer for all of it.
  [[nodiscard]] virtual bool is_pinned(const void* memory, std::size_t size) = 0;
  /// Locks host memory, which makes copies from it faster. It may be mapped for reading only, if the device supports that.
  /// Errors, after which nothing is locked: memory_limit and backend_failure, for example if part of it is locked already.
  [[nodiscard]] virtual status pin(const void* memory, std::size_t size) = 0;
  /// Unlocks what `pin` has locked, by its first byte.
  virtual void unpin(const void* memory) = 0;

  /// Bytes of device memory that this object holds.
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
  /// 0 if the device makes no fingerprints.
  [[nodiscard]] virtual std::size_t digest_bytes() const noexcept = 0;
  /// The NUMA node nearest to the device; -1 if unknown.
  [[nodiscard]] virtual int numa_node() const noexcept = 0;
};

/// Makes an offload. Errors: unavailable, as for `devices()`, or if this build has no code for the device;
/// invalid_argument, if the device does not exist; memory_limit, if it has too little memory left; backend_failure.
/// Throws std::bad_alloc. Thread-safe.
[[nodiscard]] result<std::unique_ptr<offload>> make_offload(int device, const chunker& cuts,
                                                            const fingerprint_recipe& fingerprint,
                                                            const batch_limits& limits,
                                                            offload_use use = offload_use::cut);

}  // namespace cutpoint::cuda
