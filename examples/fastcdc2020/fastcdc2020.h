// FastCDC with the interface of the Rust crate `fastcdc`, module `v2020` (in Python, pyfastcdc). It gives the same chunks for
// the same sizes, and all processors work on them. It cuts bytes in memory:
//
//     fastcdc2020* chunks = fastcdc2020_new(bytes, byte_count, 16384, 65536, 262144, &error);
//     for (fastcdc2020_chunk chunk; fastcdc2020_next(chunks, &chunk);) use(bytes + chunk.offset, chunk.length);
//     fastcdc2020_free(chunks);
//
// A chunk of the crate has a third field, the gear hash at its end, which is not made here.
#pragma once

#include <cutpoint/cutpoint.h>
#include <stdbool.h>

typedef struct fastcdc2020_chunk {
  uint64_t offset;  ///< in the source
  uint64_t length;
} fastcdc2020_chunk;

/// The chunks of a source. One thread at a time may use it.
typedef struct fastcdc2020 fastcdc2020;

/// Cuts the whole source. The sizes are in bytes, even, and at most 2 MiB, 8 MiB and 64 MiB. Returns null on failure, with
/// the reason in `error`, which may be null. The source may be freed after the call. The memory for the chunks is 72 bytes
/// for each `min_size` bytes of the source; the system provides it only as chunks are written.
fastcdc2020* fastcdc2020_new(const void* source, size_t byte_count, uint32_t min_size, uint32_t avg_size,
                             uint32_t max_size, cutpoint_error* error);

/// Does the same with the normalization `level`, 0 to 3, instead of 1, and with a seed that is xored into the gear table.
fastcdc2020* fastcdc2020_with_level_and_seed(const void* source, size_t byte_count, uint32_t min_size,
                                             uint32_t avg_size, uint32_t max_size, unsigned level, uint64_t seed,
                                             cutpoint_error* error);

/// Writes the next chunk, in order, to `chunk`. Returns false after the last chunk, and for null.
bool fastcdc2020_next(fastcdc2020* chunks, fastcdc2020_chunk* chunk);

/// Frees the chunks. Has no effect for null.
void fastcdc2020_free(fastcdc2020* chunks);
