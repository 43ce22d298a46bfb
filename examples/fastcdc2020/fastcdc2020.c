#include "fastcdc2020.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct fastcdc2020 {
  fastcdc2020_chunk* chunks;
  size_t count;
  size_t capacity;
  size_t next;
};

/// Anything but 0 stops the feed.
static int add_chunk(fastcdc2020* all, fastcdc2020_chunk chunk) {
  if (all->count == all->capacity) {
    const size_t capacity = all->capacity == 0 ? 64 : 2 * all->capacity;
    fastcdc2020_chunk* larger = realloc(all->chunks, capacity * sizeof *larger);
    if (larger == NULL) return 1;
    all->chunks = larger;
    all->capacity = capacity;
  }
  all->chunks[all->count++] = chunk;
  return 0;
}

static int take_chunk(void* context, const cutpoint_chunk* chunk, const void* bytes) {
  (void)bytes;
  for (uint64_t i = 0; i < chunk->count; ++i) {  // more than one: a run of one byte
    const fastcdc2020_chunk one = {.offset = chunk->offset + i * chunk->length, .length = chunk->length};
    if (add_chunk(context, one) != 0) return 1;
  }
  return 0;
}

/// Cuts the source by an engine of its own; a program that cuts many would keep one.
static cutpoint_status cut(const void* source, size_t byte_count, const char* cuts, fastcdc2020* cutter,
                           cutpoint_error* error) {
  const cutpoint_feed_options options = {.struct_bytes = sizeof options, .cuts = cuts, .fingerprint = "none"};
  const cutpoint_receiver receiver = {.struct_bytes = sizeof receiver, .context = cutter, .take_chunk = take_chunk};
  cutpoint_engine* engine = NULL;
  cutpoint_feed* feed = NULL;
  cutpoint_status status = cutpoint_engine_create(NULL, &engine, error);
  if (status == CUTPOINT_OK) status = cutpoint_feed_create(engine, &options, &receiver, &feed, error);
  if (status == CUTPOINT_OK) {
    status = cutpoint_feed_begin(feed, 0);
    if (status == CUTPOINT_OK) status = cutpoint_feed_write(feed, source, byte_count);
    if (status == CUTPOINT_OK) status = cutpoint_feed_end(feed, CUTPOINT_OK);
    if (status == CUTPOINT_OK) status = cutpoint_feed_finish(feed);
    if (error != NULL) cutpoint_feed_error(feed, error);
  }
  cutpoint_feed_destroy(feed);
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
  fastcdc2020* made = calloc(1, sizeof *made);
  if (made == NULL) {
    if (error != NULL) *error = (cutpoint_error){.code = CUTPOINT_OUT_OF_MEMORY, .message = "out of memory"};
    return NULL;
  }
  if (cut(source, byte_count, cuts, made, error) == CUTPOINT_OK) return made;
  fastcdc2020_free(made);
  return NULL;
}

fastcdc2020* fastcdc2020_new(const void* source, size_t byte_count, uint32_t min_size, uint32_t avg_size,
                             uint32_t max_size, cutpoint_error* error) {
  return fastcdc2020_with_level_and_seed(source, byte_count, min_size, avg_size, max_size, 1, 0, error);
}

bool fastcdc2020_next(fastcdc2020* chunks, fastcdc2020_chunk* chunk) {
  if (chunks == NULL || chunks->next == chunks->count) return false;
  *chunk = chunks->chunks[chunks->next++];
  return true;
}

void fastcdc2020_free(fastcdc2020* chunks) {
  if (chunks == NULL) return;
  free(chunks->chunks);
  free(chunks);
}
