// Lists the chunks of a file, one on each line: offset, length, SHA-256. All processors work on them.
#include <cutpoint/cutpoint.h>
#include <inttypes.h>
#include <stdio.h>

static int print_chunk(void* context, const cutpoint_chunk* chunk, const void* bytes) {
  (void)bytes;
  for (uint64_t i = 0; i < chunk->count; ++i) {  // a run of one byte gives equal chunks
    fprintf(context, "%" PRIu64 " %" PRIu64 " ", chunk->offset + i * chunk->length, chunk->length);
    for (uint64_t k = 0; k < chunk->digest_bytes; ++k) fprintf(context, "%02x", chunk->digest[k]);
    fputc('\n', context);
  }
  return ferror(context);  // a value other than 0 stops the feed
}

static cutpoint_status chunk_file(FILE* file, cutpoint_feed* feed) {
  static char block[1 << 20];
  cutpoint_status status = cutpoint_feed_begin(feed, 0);
  for (size_t count; status == CUTPOINT_OK && (count = fread(block, 1, sizeof block, file)) != 0;) {
    status = cutpoint_feed_write(feed, block, count);
  }
  if (status == CUTPOINT_OK) status = cutpoint_feed_end(feed, ferror(file) ? CUTPOINT_IO_ERROR : CUTPOINT_OK);
  return status == CUTPOINT_OK ? cutpoint_feed_finish(feed) : status;
}

int main(int count, char** words) {
  FILE* file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (file == NULL) {
    fprintf(stderr, "usage: chunk_file FILE (a file that can be read)\n");
    return 2;
  }
  cutpoint_error error;
  cutpoint_engine* engine = NULL;
  cutpoint_feed* feed = NULL;
  const cutpoint_feed_options options = {.struct_bytes = sizeof options, .cuts = "fastcdc", .fingerprint = "sha256"};
  const cutpoint_receiver receiver = {.struct_bytes = sizeof receiver, .context = stdout, .take_chunk = print_chunk};
  cutpoint_status status = cutpoint_engine_create(NULL, &engine, &error);
  if (status == CUTPOINT_OK) status = cutpoint_feed_create(engine, &options, &receiver, &feed, &error);
  if (status == CUTPOINT_OK) {
    status = chunk_file(file, feed);
    cutpoint_feed_error(feed, &error);
  }
  if (status != CUTPOINT_OK) fprintf(stderr, "%s: %s\n", cutpoint_status_name(status), error.message);
  const int is_unread = ferror(file);
  cutpoint_feed_destroy(feed);
  cutpoint_engine_destroy(engine);
  fclose(file);
  return status != CUTPOINT_OK || is_unread;
}
