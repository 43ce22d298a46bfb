#include "fastcdc2020.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct fastcdc2020 {
  cutpoint_chunk* chunks;
  size_t count;
  size_t next;
};

/// Cuts the source with an engine of its own. A program that cuts many sources should keep one engine.
static cutpoint_status cut(const void* source, size_t byte_count, const char* cuts, uint32_t min_size,
                           fastcdc2020* result, cutpoint_error* error) {
  const cutpoint_feed_options options = {.struct_bytes = sizeof options, .cuts = cuts, .fingerprint = "none"};
  const size_t shortest = min_size < 64 ? 64 : min_size;  // smaller sizes are refused; only the last chunk is shorter
  const size_t capacity = byte_count / shortest + 1;
  cutpoint_engine* engine = NULL;
  cutpoint_status status = cutpoint_engine_create(NULL, &engine, error);
  if (status != CUTPOINT_OK) return status;
  result->chunks = calloc(capacity, sizeof *result->chunks);
  if (result->chunks == NULL) {
    status = CUTPOINT_OUT_OF_MEMORY;
    if (error != NULL) *error = (cutpoint_error){.code = status, .message = "out of memory"};
  } else {
    status =
        cutpoint_chunk_buffer(engine, &options, source, byte_count, result->chunks, capacity, &result->count, error);
  }
  cutpoint_engine_destroy(engine);
  return status;
}

fastcdc2020* fastcdc2020_with_level_and_seed(const void* source, size_t byte_count, uint32_t min_size,
                                             uint32_t avg_size, uint32_t max_size, unsigned level, uint64_t seed,
                                             cutpoint_error* error) {
  char cuts[160];
  snprintf(cuts, sizeof cuts,
           "fastcdc(min_bytes=%" PRIu32 ",avg_bytes=%" PRIu32 ",max_bytes=%" PRIu32 ",normalization=%u,seed=%" PRIu64
           ")",
           min_size, avg_size, max_size, level, seed);
  fastcdc2020* chunks = calloc(1, sizeof *chunks);
  if (chunks == NULL) {
    if (error != NULL) *error = (cutpoint_error){.code = CUTPOINT_OUT_OF_MEMORY, .message = "out of memory"};
    return NULL;
  }
  if (cut(source, byte_count, cuts, min_size, chunks, error) == CUTPOINT_OK) return chunks;
  fastcdc2020_free(chunks);
  return NULL;
}

fastcdc2020* fastcdc2020_new(const void* source, size_t byte_count, uint32_t min_size, uint32_t avg_size,
                             uint32_t max_size, cutpoint_error* error) {
  return fastcdc2020_with_level_and_seed(source, byte_count, min_size, avg_size, max_size, 1, 0, error);
}

bool fastcdc2020_next(fastcdc2020* chunks, fastcdc2020_chunk* chunk) {
  if (chunks == NULL || chunks->next == chunks->count) return false;
  const cutpoint_chunk* next = &chunks->chunks[chunks->next++];
  *chunk = (fastcdc2020_chunk){.offset = next->offset, .length = next->length};
  return true;
}

void fastcdc2020_free(fastcdc2020* chunks) {
  if (chunks == NULL) return;
  free(chunks->chunks);
  free(chunks);
}
