// The interface for C to GPUs: buffers that are in a GPU's memory already are cut and fingerprinted there, thousands in one call, and
// which chunks are new is decided there.
//
// What cutpoint.h says of errors, structures, text and the binary interface holds here too. `error` may be null everywhere.
// The header needs no header of CUDA: a stream is a `cudaStream_t`, which points to the type that is declared below. A library
// that was built without CUDA has all functions; those that create a handle return CUTPOINT_UNAVAILABLE there.
#pragma once

#include <cutpoint/cutpoint.h>

/// The type that `cudaStream_t` points to.
struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/// Cuts and fingerprints batches on one GPU. Any number of threads may use one at once, each with any current device, except
/// for `cutpoint_cuda_destroy`.
typedef struct cutpoint_cuda cutpoint_cuda;

typedef struct cutpoint_cuda_options {
  uint64_t struct_bytes;
  const char* cuts;         ///< as for `cutpoint_describe_cuts`; null: "fastcdc"
  const char* fingerprint;  ///< "sha1", "sha256", "blake3" or "none"; null: "sha256"
  const uint8_t* key;       ///< null, or 32 bytes for the keyed mode of "blake3"
  int32_t device;           ///< the number that `cutpoint info` shows
  uint32_t reserved;        ///< 0
} cutpoint_cuda_options;

/// Makes a handle, which holds a few KiB of device memory. `options` may be null. On failure `*cuda` becomes null. Errors:
/// CUTPOINT_UNAVAILABLE, with the reason, if the GPU cannot be used.
CUTPOINT_API cutpoint_status cutpoint_cuda_create(const cutpoint_cuda_options* options, cutpoint_cuda** cuda,
                                                  cutpoint_error* error);

/// Destroys a handle. The streams must have done the work of all batches. Has no effect if `cuda` is null.
CUTPOINT_API void cutpoint_cuda_destroy(cutpoint_cuda* cuda);

/// The bounds of batches. What a batch needs depends on them alone, so that a captured batch can be replayed with other sizes
/// within them.
typedef struct cutpoint_cuda_bounds {
  uint64_t struct_bytes;
  uint64_t max_buffers;       ///< 1 to 2^31
  uint64_t max_buffer_bytes;  ///< bytes of one buffer, less than 2^32 - 64; 0: as many as allowed
  uint64_t max_total_bytes;   ///< bytes of all buffers together, 1 to 2^40
  /// Chunks that the output arrays have room for, at most 2^32 - 1. 0: as many as there can be, unless chunks have fewer than
  /// 64 bytes. With a smaller number a batch needs less memory, but may be refused.
  uint64_t max_chunks;
} cutpoint_cuda_bounds;

/// What batches within bounds need.
typedef struct cutpoint_cuda_sizes {
  uint64_t struct_bytes;
  uint64_t workspace_bytes;
  uint64_t max_chunks;    ///< chunks that the output arrays must have room for
  uint64_t digest_bytes;  ///< of each digest; 0 without fingerprints
} cutpoint_cuda_sizes;

/// Says what batches within the bounds need. `sizes` has its size in `struct_bytes`.
CUTPOINT_API cutpoint_status cutpoint_cuda_size(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* bounds,
                                                cutpoint_cuda_sizes* sizes, cutpoint_error* error);

/// The buffers of a batch, by arrays in device memory. Each buffer is a stream of its own. Buffers may be anywhere in memory
/// that the device can read, with any alignment; their memory is readable from the multiple of 16 before the first byte to the
/// one after the last. Addresses of empty buffers are not used.
typedef struct cutpoint_cuda_batch {
  uint64_t struct_bytes;
  const uint8_t* const* buffers;  ///< [max_buffers] address of each buffer
  const uint64_t* byte_counts;    ///< [max_buffers] size of each buffer; may be 0
  const uint32_t* buffer_count;   ///< [1] number of buffers; null: `max_buffers`
  /// [max_buffers] 0 if the stream of a buffer goes on after it: then only chunks that no later byte can change are found, and
  /// the stream's next buffer must begin where the last chunk ends. Null: all streams end.
  const uint8_t* ends;
} cutpoint_cuda_batch;

/// Why a device refused a batch.
enum {
  CUTPOINT_CUDA_PROBLEM_NONE = 0,
  CUTPOINT_CUDA_TOO_MANY_BUFFERS = 1,  ///< more than `max_buffers`
  CUTPOINT_CUDA_BUFFER_TOO_LONG = 2,   ///< a buffer has more than `max_buffer_bytes`
  CUTPOINT_CUDA_TOO_MANY_BYTES = 3,    ///< all buffers together have more than `max_total_bytes`
  CUTPOINT_CUDA_TOO_MANY_CHUNKS = 4    ///< more than `max_chunks`, or many chunks of fewer than 64 bytes
};

/// Arrays in device memory that belong to the caller. They are complete when the stream has done the work. The chunks of
/// buffer i are those from `first_chunks[i]` to before `first_chunks[i + 1]`.
typedef struct cutpoint_cuda_chunks {
  uint64_t struct_bytes;
  /// [max_buffers + 1] index of each buffer's first chunk; from the number of buffers on, the number of all chunks. All are 0
  /// if the batch was refused.
  uint32_t* first_chunks;
  uint64_t* offsets;  ///< [max_chunks] bytes from the buffer's first byte to the chunk's; null if not wanted
  uint32_t* lengths;  ///< [max_chunks]; 0 after the last chunk
  uint8_t* digests;   ///< [max_chunks][digest_bytes], aligned to 4; null without fingerprints
  uint32_t* problem;  ///< [1] a CUTPOINT_CUDA_... number
} cutpoint_cuda_chunks;

/// Puts the work on a batch into `stream` and returns. It launches kernels, clears memory, and does nothing else: it neither
/// allocates nor waits nor uses another stream, so `stream` may be captured into a CUDA graph. Kernels may be loaded by the
/// first call, so make one before a capture. `workspace` is device memory, aligned to 256, that nothing else uses until the work
/// is done. Errors: CUTPOINT_INVALID_ARGUMENT, also for too small a workspace; CUTPOINT_BACKEND_FAILURE.
CUTPOINT_API cutpoint_status cutpoint_cuda_enqueue(const cutpoint_cuda* cuda, const cutpoint_cuda_bounds* bounds,
                                                   const cutpoint_cuda_batch* batch, const cutpoint_cuda_chunks* chunks,
                                                   void* workspace, uint64_t workspace_byte_count,
                                                   struct CUstream_st* stream, cutpoint_error* error);

/// Gives device memory in the order of a stream. No member may be null but `context`, which is passed to the functions.
typedef struct cutpoint_cuda_allocator {
  uint64_t struct_bytes;
  void* context;
  /// Returns memory, aligned to 256, that work in `stream` may use from now on; null without any.
  void* (*allocate)(void* context, uint64_t byte_count, struct CUstream_st* stream);
  /// Takes the memory back. Earlier work in `stream` may still use it.
  void (*deallocate)(void* context, void* memory, uint64_t byte_count, struct CUstream_st* stream);
} cutpoint_cuda_allocator;

/// Does the same with workspace of an allocator, which gets it back before the call returns. Errors: CUTPOINT_MEMORY_LIMIT, if
/// the allocator has none; as above.
CUTPOINT_API cutpoint_status cutpoint_cuda_enqueue_allocating(const cutpoint_cuda* cuda,
                                                              const cutpoint_cuda_bounds* bounds,
                                                              const cutpoint_cuda_batch* batch,
                                                              const cutpoint_cuda_chunks* chunks,
                                                              const cutpoint_cuda_allocator* allocator,
                                                              struct CUstream_st* stream, cutpoint_error* error);

/// Makes a sentence of `*chunks->problem`, which the caller has copied to the host. Returns CUTPOINT_OK for none,
/// CUTPOINT_MEMORY_LIMIT for too many chunks, and CUTPOINT_INVALID_ARGUMENT for the others.
CUTPOINT_API cutpoint_status cutpoint_cuda_describe_problem(uint32_t problem, const cutpoint_cuda_bounds* bounds,
                                                            cutpoint_error* error);

/// The digests of the chunks that a GPU has seen, a sorted table of 32 bytes for each in its memory. One thread at a time may use
/// one, with any current device.
typedef struct cutpoint_cuda_dedup cutpoint_cuda_dedup;

typedef struct cutpoint_cuda_dedup_options {
  uint64_t struct_bytes;
  uint32_t digest_bytes;  ///< bytes of each digest, 1 to 32, such as `cutpoint_cuda_sizes::digest_bytes`
  int32_t device;         ///< the number that `cutpoint info` shows
  /// Gives all memory: the table, for each batch 36 bytes a digest and what a sort takes, and a second table while new digests
  /// are merged. It is copied. Null: the device's default pool (cudaMallocAsync).
  const cutpoint_cuda_allocator* allocator;
} cutpoint_cuda_dedup_options;

/// Makes an empty table. All work goes to `stream`, which must outlive it. On failure `*dedup` becomes null. Errors:
/// CUTPOINT_INVALID_ARGUMENT; CUTPOINT_UNAVAILABLE, with the reason, if the GPU cannot be used.
CUTPOINT_API cutpoint_status cutpoint_cuda_dedup_create(const cutpoint_cuda_dedup_options* options,
                                                        struct CUstream_st* stream, cutpoint_cuda_dedup** dedup,
                                                        cutpoint_error* error);

/// Destroys a table. Has no effect if `dedup` is null.
CUTPOINT_API void cutpoint_cuda_dedup_destroy(cutpoint_cuda_dedup* dedup);

/// Inserts the digests of a batch, and writes the positions of the chunks that are new into `new_chunks`, ascending, and their
/// number into `*new_count`: those whose digests were not in the table, the first one of each digest. `digests` is
/// [count][digest_bytes] in device memory, of any alignment; `new_chunks` has room for `count` positions in device memory and does
/// not overlap the digests; `new_count` is on the host. The call waits for the stream, and all is done when it returns, so a stream
/// that is captured is refused. Errors: CUTPOINT_INVALID_ARGUMENT, CUTPOINT_MEMORY_LIMIT and CUTPOINT_BACKEND_FAILURE, after which
/// the table is as before.
CUTPOINT_API cutpoint_status cutpoint_cuda_dedup_insert(cutpoint_cuda_dedup* dedup, const uint8_t* digests,
                                                        uint32_t count, uint32_t* new_chunks, uint32_t* new_count,
                                                        cutpoint_error* error);

/// Returns the number of digests in the table; 0 if `dedup` is null.
CUTPOINT_API uint64_t cutpoint_cuda_dedup_size(const cutpoint_cuda_dedup* dedup);

#ifdef __cplusplus
}
#endif
