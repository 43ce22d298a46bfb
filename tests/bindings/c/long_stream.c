/* long_stream GIB: feeds a stream of this length through the C interface in blocks of 1 MiB, with 64 MiB of memory. Every byte must lie
 * in a chunk, and the memory of the process must not grow by more than 64 MiB. */
#include <cutpoint/cutpoint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { block_bytes = 1 << 20, allowed_bytes = 64 << 20 };

struct totals {
  uint64_t bytes;
  uint64_t chunks;
};

static int take(void* context, const cutpoint_chunk* chunk, const void* bytes) {
  struct totals* const all = context;
  if (bytes == NULL || chunk->offset != all->bytes) return 1;
  all->bytes += chunk->length * chunk->count;
  all->chunks += chunk->count;
  return 0;
}

/* Most bytes that the process has held at any time. */
static uint64_t peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_maxrss * 1024;
}

/* Other bytes for each block, made as fast as they are cut: random ones, of which some words count. */
static void change_block(uint64_t* words, uint64_t number) {
  const size_t count = block_bytes / sizeof *words;
  for (size_t i = 0; i < count; i += 128) words[i] = (number * count + i) * UINT64_C(0x9e3779b97f4a7c15);
}

int main(int argc, char** argv) {
  const uint64_t gib = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
  if (gib == 0) {
    fputs("usage: long_stream GIB\n", stderr);
    return 2;
  }
  struct totals all = {0, 0};
  uint64_t* const block = malloc(block_bytes);
  uint64_t state = 1;
  for (size_t i = 0; i < block_bytes / sizeof *block; ++i) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    block[i] = state ^ (state >> 29);
  }

  cutpoint_engine* engine = NULL;
  cutpoint_feed* feed = NULL;
  cutpoint_error error;
  const cutpoint_feed_options options = {.struct_bytes = sizeof options, .memory_bytes = allowed_bytes};
  const cutpoint_receiver receiver = {.struct_bytes = sizeof receiver, .context = &all, .take_chunk = take};
  const uint64_t before = peak_bytes();
  int code = cutpoint_engine_create(NULL, &engine, &error);
  if (code == CUTPOINT_OK) code = cutpoint_feed_create(engine, &options, &receiver, &feed, &error);
  if (code != CUTPOINT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  code = cutpoint_feed_begin(feed, 0);
  for (uint64_t number = 0; number < gib << 10 && code == CUTPOINT_OK; ++number) {
    change_block(block, number);
    code = cutpoint_feed_write(feed, block, block_bytes);
  }
  if (code == CUTPOINT_OK) code = cutpoint_feed_end(feed, CUTPOINT_OK);
  if (code == CUTPOINT_OK) code = cutpoint_feed_finish(feed);
  cutpoint_feed_error(feed, &error);
  cutpoint_feed_destroy(feed);
  cutpoint_engine_destroy(engine);
  free(block);

  const uint64_t grown_bytes = peak_bytes() - before;
  printf("%s %s; %" PRIu64 " bytes in %" PRIu64 " chunks, held %.1f MiB\n", cutpoint_status_name(code), error.message,
         all.bytes, all.chunks, (double)grown_bytes / (1 << 20));
  return code == CUTPOINT_OK && all.bytes == gib << 30 && grown_bytes <= allowed_bytes ? 0 : 1;
}
