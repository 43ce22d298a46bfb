// Cuts and fingerprints bytes that are in a GPU's memory already, for example because storage writes there directly. For
// bytes in host memory use the engine (cutpoint/engine.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

/// The type that `cudaStream_t` points to.
struct CUstream_st;

namespace cutpoint {

/// The chunks of a batch: arrays in device memory that belong to the `device_chunker` and stay valid until its next batch.
/// They are complete when the stream has done the work.
struct device_chunks {
  const std::uint64_t* offsets = nullptr;  ///< [count] offset of each chunk from the batch's first byte
  const std::uint32_t* lengths = nullptr;  ///< [count]
  const std::uint8_t* digests = nullptr;   ///< [count][digest_bytes]; null without fingerprints
  const std::uint32_t* count = nullptr;    ///< [1] number of chunks
  /// [1] Not 0 if the batch had more chunks than the arrays hold; the other arrays are then invalid. Only chunks of fewer
  /// than 64 bytes can cause this.
  const std::uint32_t* overflowed = nullptr;
  std::uint32_t digest_bytes = 0;
};

/// Cuts and fingerprints batches in device memory, exactly as the sequential algorithm does. It holds the memory that a
/// batch needs beside its bytes: an eighth or a quarter of them for most algorithms, and about 50 bytes for each possible
/// chunk. Movable. One thread at a time may use it, with any current device.
class device_chunker {
 public:
  /// Makes a chunker for batches of up to `max_bytes`, less than 4 GiB, on the GPU that `cutpoint info` calls `device`.
  /// The fingerprint must be sha1, sha256, blake3 or none. Errors: invalid_argument; unavailable, if the build has no CUDA,
  /// the machine has no driver, or the build has no code for the GPU; memory_limit; backend_failure.
  [[nodiscard]] static result<device_chunker> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                   std::uint64_t max_bytes, int device = 0);

  device_chunker(device_chunker&&) noexcept;
  device_chunker& operator=(device_chunker&&) noexcept;
  ~device_chunker();

  /// Puts the work on `byte_count` bytes, which begin a chunk, into `stream` and returns. `bytes` is device memory of any
  /// alignment, which may be read from the multiple of 16 before the first byte to the one after the last. If `at_end`, the
  /// data end with these bytes; otherwise only chunks that `cuts.reach()` bytes decide are found, and the next batch must
  /// begin where the last chunk ends. The work follows that of the last call, whatever its stream was. The call waits for
  /// `stream` if the batch has another size or alignment than the last one; otherwise it neither waits nor allocates. The
  /// stream is not used after the call, and may be destroyed once it has done the work.
  /// Errors: invalid_argument; backend_failure.
  [[nodiscard]] result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream);

  /// Waits for the last batch and returns its chunks. Errors: memory_limit, if they overflowed; backend_failure.
  [[nodiscard]] result<std::vector<chunk>> chunks();

 private:
  class implementation;
  explicit device_chunker(std::unique_ptr<implementation> own) noexcept;

  std::unique_ptr<implementation> implementation_;
};

}  // namespace cutpoint
