// FastCDC as the Rust crate `fastcdc` has it in `v2020` (pyfastcdc in Python): the same chunks for the same sizes,
// found by all processors. As there, bytes in memory, and a walk over their chunks:
//
//     fastcdc2020* chunks = fastcdc2020_new(bytes, byte_count, 16384, 65536, 262144, &error);
//     for (fastcdc2020_chunk chunk; fastcdc2020_next(chunks, &chunk);) use(bytes + chunk.offset, chunk.length);
//     fastcdc2020_free(chunks);
//
// The crate's third field, the gear hash where a chunk ends, is not made.
#pragma once

#include <cutpoint/cutpoint.h>
#include <stdbool.h>

typedef struct fastcdc2020_chunk {
  uint64_t offset;  ///< in the source
  uint64_t length;
} fastcdc2020_chunk;

/// The chunks of a source. One thread at a time.
typedef struct fastcdc2020 fastcdc2020;

/// Cuts the whole source, which is not kept: 16 bytes for each chunk are. The sizes are in bytes, even, at most 1 MiB,
/// 4 MiB and 16 MiB. Null on failure, which `error` then tells; it may be null.
fastcdc2020* fastcdc2020_new(const void* source, size_t byte_count, uint32_t min_size, uint32_t avg_size,
                             uint32_t max_size, cutpoint_error* error);

/// With normalization `level`, 0 to 3, instead of 1, and a seed that is xored into the gear table.
fastcdc2020* fastcdc2020_with_level_and_seed(const void* source, size_t byte_count, uint32_t min_size,
                                             uint32_t avg_size, uint32_t max_size, unsigned level, uint64_t seed,
                                             cutpoint_error* error);

/// The next chunk, in order; false after the last, and for null.
bool fastcdc2020_next(fastcdc2020* chunks, fastcdc2020_chunk* chunk);

/// Null is passed over.
void fastcdc2020_free(fastcdc2020* chunks);
