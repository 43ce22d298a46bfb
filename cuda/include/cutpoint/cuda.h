// Cuts and fingerprints bytes that are in a GPU's memory already, for example because storage writes there directly. For
// bytes in host memory use the engine (cutpoint/engine.h).
//
//   device_batch_chunker  takes thousands of buffers in one call, by arrays of addresses and sizes in device memory. Workspace
//                         and outputs belong to the caller. It neither allocates nor waits, so a CUDA graph can capture it.
//   device_chunker        takes one buffer at a time and owns its memory
//   device_digest_table   finds which of the chunks are new
#pragma once

#include <cstddef>
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

/// The bounds of batches. Workspace, grids and the number of chunks depend on them alone, so that a captured batch can be
/// replayed with other sizes within them.
struct device_batch_bounds {
  std::uint64_t max_buffers = 1;       ///< 1 to 2^31
  std::uint64_t max_buffer_bytes = 0;  ///< bytes of one buffer, less than 2^32 - 64; 0: as many as allowed
  std::uint64_t max_total_bytes = 0;   ///< bytes of all buffers together, 1 to 2^40
  /// Chunks that the output arrays have room for, at most 2^32 - 1. 0: as many as there can be, unless chunks have fewer than
  /// 64 bytes (`device_batch_chunker::max_chunks`). With a smaller number, such as twice the total over the mean chunk, a
  /// batch needs less memory and sorts fewer numbers, but may be refused (`device_batch_problem::too_many_chunks`).
  std::uint64_t max_chunks = 0;
};

/// The buffers of a batch, in device memory. Each is a stream of its own: no chunk has bytes of two. Buffers may be anywhere
/// in memory that the device can read, with any alignment; their memory is readable from the multiple of 16 before the first
/// byte to the one after the last, as it is in whole allocations. Addresses of empty buffers are not used.
struct device_batch {
  const std::uint8_t* const* buffers = nullptr;  ///< [max_buffers] address of each buffer
  const std::uint64_t* byte_counts = nullptr;    ///< [max_buffers] size of each buffer; may be 0
  const std::uint32_t* buffer_count = nullptr;   ///< [1] number of buffers; null: `max_buffers`
  /// [max_buffers] 0 if the stream of a buffer goes on after it: then only chunks that `chunker::reach()` bytes decide are
  /// found, and the stream's next buffer must begin where the last chunk ends. Other values end the stream. Null: all end.
  const std::uint8_t* ends = nullptr;
};

/// Why a batch was refused. The device decides it, because it alone knows the sizes.
enum class device_batch_problem : std::uint32_t {
  none = 0,
  too_many_buffers = 1,  ///< more than `max_buffers`
  buffer_too_long = 2,   ///< a buffer has more than `max_buffer_bytes`
  too_many_bytes = 3,    ///< all buffers together have more than `max_total_bytes`
  too_many_chunks = 4,   ///< more than `max_chunks`, or many chunks of fewer than 64 bytes
};

/// Ok for `none`; else an error with one sentence: memory_limit for too many chunks, and invalid_argument for the others.
[[nodiscard]] status describe_problem(device_batch_problem problem, const device_batch_bounds& bounds);

/// Arrays in device memory that belong to the caller, for the chunks of a batch. They are complete when the stream has done
/// the work. The chunks of buffer i are those from `first_chunks[i]` to before `first_chunks[i + 1]`.
struct device_batch_chunks {
  /// [max_buffers + 1] index of each buffer's first chunk; from the number of buffers on, the number of all chunks. All are 0
  /// if the batch was refused.
  std::uint32_t* first_chunks = nullptr;
  std::uint64_t* offsets =
      nullptr;  ///< [max_chunks] bytes from the buffer's first byte to the chunk's; null if not wanted
  std::uint32_t* lengths = nullptr;  ///< [max_chunks]; 0 after the last chunk
  /// [max_chunks][digest_bytes], aligned to 4; null without fingerprints. Not changed after the last chunk.
  std::uint8_t* digests = nullptr;
  std::uint32_t* problem = nullptr;  ///< [1] a `device_batch_problem`
};

/// Returns whether a stream of the GPU that `cutpoint info` calls `device` is being captured. Null is the default stream, which cannot
/// be. Thread-safe. Errors: unavailable; invalid_argument; backend_failure.
[[nodiscard]] result<bool> is_captured(CUstream_st* stream, int device = 0);

/// Makes what is put into `stream` from now on wait for what has been put into `other`, on the device: the call does not wait. Both are
/// streams of the GPU that `cutpoint info` calls `device`, null is the default stream, and `stream` must not be captured, since a graph
/// cannot wait for work outside of it. Thread-safe. Errors: unavailable; invalid_argument; backend_failure.
[[nodiscard]] status wait_for_stream(CUstream_st* stream, CUstream_st* other, int device = 0);

/// Gives memory in the order of a stream, as cuda::mr's asynchronous resources do.
class device_allocator {
 public:
  virtual ~device_allocator() = default;
  /// Returns memory of the device, aligned to 256, that work in `stream` may use from now on; null without any.
  [[nodiscard]] virtual void* allocate(std::size_t byte_count, CUstream_st* stream) = 0;
  /// Takes the memory back. Earlier work in `stream` may still use it.
  virtual void deallocate(void* memory, std::size_t byte_count, CUstream_st* stream) = 0;
};

/// Cuts and fingerprints batches of buffers in device memory, exactly as the sequential algorithm does. It holds a few KiB of
/// device memory for the algorithm's table. Movable. Any number of threads may call its const functions at once, each with
/// any current device.
class device_batch_chunker {
 public:
  /// Makes one for the GPU that `cutpoint info` calls `device`. The fingerprint must be sha1, sha256, blake3 or none. It waits
  /// for the copy of the table. Errors: invalid_argument; unavailable, if the build has no CUDA, the machine has no driver,
  /// or the build has no code for the GPU; memory_limit; backend_failure.
  [[nodiscard]] static result<device_batch_chunker> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                         int device = 0);

  device_batch_chunker(device_batch_chunker&&) noexcept;
  device_batch_chunker& operator=(device_batch_chunker&&) noexcept;
  /// The streams must have done the work of all batches.
  ~device_batch_chunker();

  /// Bytes of a digest; 0 without fingerprints.
  [[nodiscard]] std::uint32_t digest_bytes() const noexcept;

  /// The chunks that the output arrays must have room for. Errors: invalid_argument.
  [[nodiscard]] result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) const;

  /// Bytes of workspace that every batch within the bounds needs: for most algorithms an eighth or a quarter of
  /// `max_total_bytes`, 130 bytes for each buffer, and 8 bytes for each chunk that may be found. Errors: invalid_argument;
  /// backend_failure.
  [[nodiscard]] result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) const;

  /// Puts the work on a batch into `stream` and returns. It launches kernels, clears memory, and does nothing else: it
  /// neither allocates nor waits nor uses another stream, so `stream` may be captured. `workspace` is device memory, aligned
  /// to 256, that nothing else uses until the work is done; what it has before does not matter. All arrays of `batch` and
  /// `chunks` are read and written by the work, not by the call. Kernels may be loaded by the first call, so make one before
  /// a capture.
  /// Errors: invalid_argument, also for too small a workspace; backend_failure.
  [[nodiscard]] status enqueue(const device_batch_bounds& bounds, const device_batch& batch,
                               const device_batch_chunks& chunks, void* workspace, std::uint64_t workspace_byte_count,
                               CUstream_st* stream) const;

  /// Does the same with workspace of an allocator, which gets it back before the call returns. Errors: memory_limit, if the
  /// allocator has none; as above.
  [[nodiscard]] status enqueue(const device_batch_bounds& bounds, const device_batch& batch,
                               const device_batch_chunks& chunks, device_allocator& allocator,
                               CUstream_st* stream) const;

 private:
  class batch_enqueuer;
  explicit device_batch_chunker(std::unique_ptr<batch_enqueuer> own) noexcept;

  std::unique_ptr<batch_enqueuer> implementation_;
};

/// The chunks of a batch: arrays in device memory that belong to the `device_chunker` and stay valid until its next batch.
/// They are complete when the stream has done the work.
struct device_chunks {
  const std::uint64_t* offsets = nullptr;  ///< [count] offset of each chunk from the batch's first byte
  const std::uint32_t* lengths = nullptr;  ///< [count]
  const std::uint8_t* digests = nullptr;   ///< [count][digest_bytes]; null without fingerprints
  const std::uint32_t* count = nullptr;    ///< [1] number of chunks
  /// [1] Not 0 if the batch had more chunks than the arrays hold; there are then no chunks. Only chunks of fewer than 64 bytes
  /// can cause this.
  const std::uint32_t* overflowed = nullptr;
  std::uint32_t digest_bytes = 0;
};

/// Cuts and fingerprints batches of one buffer in device memory, with a `device_batch_chunker` and the memory that it needs:
/// an eighth or a quarter of the batch's bytes for most algorithms, and about 50 bytes for each possible chunk. Movable. One
/// thread at a time may use it, with any current device.
class device_chunker {
 public:
  /// Makes a chunker for batches of up to `max_bytes`, less than 4 GiB, on the GPU that `cutpoint info` calls `device`.
  /// Errors: as `device_batch_chunker::make`.
  [[nodiscard]] static result<device_chunker> make(const chunker& cuts, const fingerprint_recipe& fingerprint,
                                                   std::uint64_t max_bytes, int device = 0);

  device_chunker(device_chunker&&) noexcept;
  device_chunker& operator=(device_chunker&&) noexcept;
  ~device_chunker();

  /// Puts the work on `byte_count` bytes, which begin a chunk, into `stream` and returns. It neither waits nor allocates.
  /// `bytes` is device memory of any alignment, which may be read from the multiple of 16 before the first byte to the one
  /// after the last. If `at_end`, the data end with these bytes; otherwise only chunks that `cuts.reach()` bytes decide are
  /// found, and the next batch must begin where the last chunk ends. The work follows that of the last call, whatever its
  /// stream was. The stream is not used after the call, and may be destroyed once it has done the work.
  /// Errors: invalid_argument; backend_failure.
  [[nodiscard]] result<device_chunks> enqueue(const std::uint8_t* bytes, std::uint64_t byte_count, bool at_end,
                                              CUstream_st* stream);

  /// Waits for the last batch and returns its chunks. Errors: memory_limit, if they overflowed; backend_failure.
  [[nodiscard]] result<std::vector<chunk>> chunks();

 private:
  class buffer_enqueuer;
  explicit device_chunker(std::unique_ptr<buffer_enqueuer> own) noexcept;

  std::unique_ptr<buffer_enqueuer> implementation_;
};

namespace cuda {
class digest_table;
}

/// The digests of the chunks that a device has seen, a sorted table of 32 bytes for each in its memory. It is `device_dedup`
/// (cutpoint/cuda_dedup.h) with one stream and one allocator, for programs that nvcc does not compile.
///
/// Memory is, besides the table, 36 bytes for each digest of a batch, what Thrust's sort takes, and a second table while new
/// digests are merged. Movable. One thread at a time may use it, with any current device.
class device_digest_table {
 public:
  /// Makes an empty table for digests of 1 to 32 bytes, such as `device_batch_chunker::digest_bytes`, on the GPU that `cutpoint
  /// info` calls `device`. All work goes to `stream`, and all memory comes from `allocator`, or, if that is null, from the
  /// device's default pool (cudaMallocAsync). Both must outlive the table. Errors: invalid_argument; unavailable;
  /// backend_failure.
  [[nodiscard]] static result<device_digest_table> make(std::uint32_t digest_bytes, CUstream_st* stream,
                                                        device_allocator* allocator = nullptr, int device = 0);

  device_digest_table(device_digest_table&&) noexcept;
  device_digest_table& operator=(device_digest_table&&) noexcept;
  ~device_digest_table();

  /// Inserts the digests of a batch, and writes the positions of the chunks that are new into `new_chunks`, ascending: those
  /// whose digests were not in the table, the first one of each digest. Returns how many they are.
  ///
  /// `digests` is [count][digest_bytes] in device memory, of any alignment. `new_chunks` has room for `count` positions in
  /// device memory and does not overlap the digests; what is after the new ones has no meaning. The call waits for the
  /// stream, and all is done when it returns, so a stream that is captured is refused.
  /// Errors: invalid_argument; memory_limit; backend_failure. The table is then as before, and `new_chunks` has no meaning.
  [[nodiscard]] result<std::uint32_t> insert(const std::uint8_t* digests, std::uint32_t count,
                                             std::uint32_t* new_chunks);

  /// Returns the number of digests in the table.
  [[nodiscard]] std::uint64_t size() const noexcept;

 private:
  explicit device_digest_table(std::unique_ptr<cuda::digest_table> own) noexcept;

  std::unique_ptr<cuda::digest_table> table_;
};

}  // namespace cutpoint
