// Takes 16 client streams at once: a thread for each feeds one engine, which bounds the memory of all and may use a GPU.
#include <cutpoint/cutpoint.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { CLIENTS = 16, BLOCKS = 64 };
static cutpoint_engine* engine;
static const cutpoint_feed_options job = {.struct_bytes = sizeof job, .cuts = "fastcdc", .fingerprint = "sha256"};

typedef struct client {
  pthread_t thread;
  uint64_t number;
  cutpoint_statistics statistics;
  cutpoint_error error;
} client;

/// Would look the digest up, and store the bytes if they are new.
static int take_chunk(void* context, const cutpoint_chunk* chunk, const void* bytes) {
  return (void)context, (void)chunk, (void)bytes, 0;
}

static void* serve(void* context) {
  static unsigned char block[1 << 20];  // for what would come over the network
  const cutpoint_receiver receiver = {.struct_bytes = sizeof receiver, .take_chunk = take_chunk};
  client* self = context;
  cutpoint_feed* feed = NULL;
  if (cutpoint_feed_create(engine, &job, &receiver, &feed, &self->error) != CUTPOINT_OK) return NULL;
  cutpoint_status status = cutpoint_feed_begin(feed, self->number);
  for (int i = 0; i < BLOCKS && status == CUTPOINT_OK; ++i) status = cutpoint_feed_write(feed, block, sizeof block);
  if (status == CUTPOINT_OK && cutpoint_feed_end(feed, CUTPOINT_OK) == CUTPOINT_OK) cutpoint_feed_finish(feed);
  cutpoint_feed_error(feed, &self->error);
  self->statistics.struct_bytes = sizeof self->statistics;
  cutpoint_feed_statistics(feed, &self->statistics);
  return cutpoint_feed_destroy(feed), NULL;
}

int main(void) {
  static client clients[CLIENTS];
  const cutpoint_engine_options options = {.struct_bytes = sizeof options, .memory_bytes = 512 << 20};
  cutpoint_error error;
  if (cutpoint_engine_create(&options, &engine, &error) != CUTPOINT_OK ||
      cutpoint_engine_measure(engine, &job, NULL, &error) != CUTPOINT_OK) {  // "auto" takes a GPU if it gains
    return fprintf(stderr, "%s\n", error.message), 1;
  }
  for (client* one = clients; one < clients + CLIENTS; ++one) {
    one->number = (uint64_t)(one - clients);
    if (pthread_create(&one->thread, NULL, serve, one) != 0) return 1;
  }
  int failures = 0;
  for (client* one = clients; one < clients + CLIENTS; ++one) {
    pthread_join(one->thread, NULL);
    const cutpoint_statistics* did = &one->statistics;
    printf("%2" PRIu64 ": %" PRIu64 " bytes, %" PRIu64 " chunks, cut by %s %s\n", one->number, did->fed_bytes,
           did->chunk_count, did->chunked_on, one->error.message);
    failures += one->error.code != CUTPOINT_OK;
  }
  return cutpoint_engine_destroy(engine), failures;
}
