// Chunks and fingerprints of bytes that are in a GPU's memory already, as an appliance has them whose storage writes
// there directly. Bytes in host memory are the engine's (cutpoint/engine.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

/// CUDA's own name for what `cudaStream_t` points to.
struct CUstream_st;

namespace cutpoint {

/// What was found in a batch: arrays in device memory that belong to the `device_chunker` and stand until its next batch.
/// They are there once the stream has got so far.
struct device_chunks {
  const std::uint64_t* offsets = nullptr;  ///< [count] of the first byte of each chunk, from the batch's first byte
  const std::uint32_t* lengths = nullptr;  ///< [count]
  const std::uint8_t* digests = nullptr;   ///< [count][digest_bytes]; null where none are made
  const std::uint32_t* count = nullptr;    ///< [1] chunks
  /// [1] not 0: the batch had so many short chunks that there was no room for them, and nothing else here is worth
  /// anything. That takes chunks of fewer than 64 bytes.
  const std::uint32_t* overflowed = nullptr;
  std::uint32_t digest_bytes = 0;
};

/// Cuts and fingerprints batches in device memory, always as the sequential algorithm does. Holds the memory that a batch
/// needs beside its bytes: an eighth or a quarter of them for most algorithms, and some 50 bytes for each chunk that
/// there may be. Movable; one thread at a time, whatever its current device.
class device_chunker {
 public:
  /// For batches of up to `max_bytes`, less than 4 GiB, on the GPU that `cutpoint info` calls `device`. Fingerprints of
  /// kinds other than sha1, sha256 and blake3 are refused. Errors: invalid_argument; unavailable, with one sentence: no
  /// CUDA in this build, no driver, no GPU that it has code for; memory_limit; backend_failure.
  [[nodiscard]] static result<device_chunker> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                   std::uint64_t max_bytes, int device = 0);

  device_chunker(device_chunker&&) noexcept;
  device_chunker& operator=(device_chunker&&) noexcept;
  ~device_chunker();

  /// Puts the work on `byte_count` bytes, which begin a chunk, into `stream` and returns. `bytes`: device memory of any
  /// alignment, which may be read from the multiple of 16 before the first byte to the one after the last. `at_end`: the
  /// stream ends with them; otherwise chunks are found as far as `cuts.reach()` bytes decide them, and the next batch
  /// begins where the last chunk ends. A batch of another size or alignment than the last waits for `stream`, one
  /// that goes into another stream for the last one's; else nothing waits, and nothing is allocated. Errors: invalid_argument; backend_failure.
  [[nodiscard]] result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream);

  /// Waits for the last batch and gives its chunks. Errors: memory_limit, where they overflowed; backend_failure.
  [[nodiscard]] result<std::vector<chunk>> chunks();

 private:
  class implementation;
  explicit device_chunker(std::unique_ptr<implementation> held) noexcept;

  std::unique_ptr<implementation> implementation_;
};

}  // namespace cutpoint
