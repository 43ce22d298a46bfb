// Tests the interface from C99, and that its numbers have the released names.
#include <cutpoint/cutpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(claim)                                                      \
  do {                                                                    \
    if (!(claim)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

enum { byte_count = 3000000, run_begin = 1000000, run_end = 2000000, most_chunks = 10000 };

static unsigned char data[byte_count];
static cutpoint_chunk whole[most_chunks], collected[most_chunks];
static size_t whole_count, collected_count;

static void make_data(void) {
  uint64_t state = 88172645463325252u;
  for (int i = 0; i < byte_count; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    data[i] = i >= run_begin && i < run_end ? 0 : (unsigned char)(state >> 32);
  }
}

static void numbers_are_pinned(void) {
  static const struct {
    int number;
    const char* name;
  } known[] = {{0, "ok"},           {1, "invalid_argument"},  {2, "unknown_name"},       {3, "io_error"},
               {4, "memory_limit"}, {5, "unavailable"},       {6, "cancelled"},          {7, "backend_failure"},
               {8, "unknown"},      {100, "out_of_memory"},   {101, "buffer_too_small"}, {102, "wrong_state"},
               {103, "busy"},       {104, "callback_failed"}, {105, "chunks_waiting"},   {106, "internal_error"},
               {107, "unknown"},    {-1, "unknown"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    CHECK(strcmp(cutpoint_status_name(known[i].number), known[i].name) == 0);
  }
}

static void names_are_listed(void) {
  char names[4096];
  size_t length = 0;
  for (int kind = CUTPOINT_ALGORITHMS; kind <= CUTPOINT_BACK_ENDS; ++kind) {
    CHECK(cutpoint_list_names(kind, NULL, 0, &length) == CUTPOINT_OK && length > 0);
    CHECK(cutpoint_list_names(kind, names, length, NULL) == CUTPOINT_BUFFER_TOO_SMALL && strlen(names) == length - 1);
    CHECK(cutpoint_list_names(kind, names, length + 1, NULL) == CUTPOINT_OK && strlen(names) == length);
    CHECK(names[length - 1] == '\n');
  }
  CHECK(strstr(names, "scalar\n") == names);
  CHECK(cutpoint_list_names(4, names, sizeof names, &length) == CUTPOINT_INVALID_ARGUMENT);
}

static void cuts_are_described(void) {
  char text[256], again[256];
  cutpoint_error error;
  CHECK(cutpoint_describe_cuts("gear(avg_bytes=4K)", text, sizeof text, NULL, &error) == CUTPOINT_OK);
  CHECK(error.code == 0 && error.message[0] == 0);
  CHECK(cutpoint_describe_cuts(text, again, sizeof again, NULL, NULL) == CUTPOINT_OK);
  CHECK(strcmp(text, again) == 0 && strstr(text, "avg_bytes=4096") != NULL);
  CHECK(cutpoint_describe_cuts("gaer", text, sizeof text, NULL, &error) == CUTPOINT_UNKNOWN_NAME);
  CHECK(error.code == CUTPOINT_UNKNOWN_NAME && strstr(error.message, "gear") != NULL);
}

static void a_buffer_is_cut(cutpoint_engine* engine, const cutpoint_feed_options* options) {
  size_t counted = 0;
  CHECK(cutpoint_chunk_buffer(engine, options, data, byte_count, NULL, 0, &counted, NULL) == CUTPOINT_OK);
  CHECK(counted > 20 && counted <= most_chunks);
  CHECK(cutpoint_chunk_buffer(engine, options, data, byte_count, whole, 5, &whole_count, NULL) ==
        CUTPOINT_BUFFER_TOO_SMALL);
  CHECK(whole_count == counted && whole[4].length != 0 && whole[5].length == 0);
  CHECK(cutpoint_chunk_buffer(engine, options, data, byte_count, whole, counted, &whole_count, NULL) == CUTPOINT_OK);
  uint64_t offset = 0;
  for (size_t i = 0; i < counted; ++i) {
    CHECK(whole[i].stream == 0 && whole[i].offset == offset && whole[i].count == 1 && whole[i].digest_bytes == 32);
    offset += whole[i].length;
  }
  CHECK(offset == byte_count);
  CHECK(cutpoint_chunk_buffer(engine, options, NULL, 0, whole, counted, &counted, NULL) == CUTPOINT_OK && counted == 0);
}

static void collect(const cutpoint_chunk* chunk) {
  for (uint64_t i = 0; i < chunk->count; ++i) {
    CHECK(collected_count < most_chunks);
    collected[collected_count] = *chunk;
    collected[collected_count].offset += i * chunk->length;
    collected[collected_count++].count = 1;
  }
}

static void expect_whole(uint64_t stream) {
  CHECK(collected_count == whole_count);
  for (size_t i = 0; i < whole_count; ++i) whole[i].stream = stream;
  CHECK(memcmp(collected, whole, whole_count * sizeof *whole) == 0);
}

static int begin_stream(void* context, uint64_t stream) {
  (void)stream;
  collected_count = 0;
  *(int*)context += 1;
  return 0;
}

static int take_chunk(void* context, const cutpoint_chunk* chunk, const void* bytes) {
  (void)context;
  CHECK(memcmp(bytes, data + chunk->offset, chunk->length) == 0);
  collect(chunk);
  return 0;
}

static int end_stream(void* context, uint64_t stream, cutpoint_status outcome) {
  CHECK(outcome == CUTPOINT_OK);
  expect_whole(stream);
  *(int*)context += 100;
  return 0;
}

static void a_stream_is_fed(cutpoint_feed* feed, uint64_t stream, size_t block_bytes) {
  CHECK(cutpoint_feed_begin(feed, stream) == CUTPOINT_OK);
  for (size_t position = 0; position < byte_count; position += block_bytes) {
    const size_t rest = byte_count - position;
    CHECK(cutpoint_feed_write(feed, data + position, rest < block_bytes ? rest : block_bytes) == CUTPOINT_OK);
  }
  CHECK(cutpoint_feed_end(feed, CUTPOINT_OK) == CUTPOINT_OK);
}

static void callbacks_get_what_is_fed(cutpoint_engine* engine, const cutpoint_feed_options* options) {
  int calls = 0;
  const cutpoint_receiver receiver = {sizeof receiver, &calls, begin_stream, take_chunk, end_stream};
  cutpoint_feed* feed = NULL;
  CHECK(cutpoint_feed_create(engine, options, &receiver, &feed, NULL) == CUTPOINT_OK);
  a_stream_is_fed(feed, 7, byte_count);
  a_stream_is_fed(feed, 1, 777);
  CHECK(cutpoint_feed_finish(feed) == CUTPOINT_OK);
  CHECK(calls == 202);

  cutpoint_statistics statistics = {.struct_bytes = sizeof statistics};
  CHECK(cutpoint_feed_statistics(feed, &statistics) == CUTPOINT_OK);
  CHECK(statistics.fed_bytes == 2 * (uint64_t)byte_count && statistics.chunk_count == 2 * whole_count);
  CHECK(statistics.run_bytes > 0 && strcmp(statistics.chunked_on, "scalar") == 0);
  CHECK(cutpoint_feed_destroy(feed) == CUTPOINT_OK);
}

int main(void) {
  make_data();
  numbers_are_pinned();
  CHECK(strchr(cutpoint_version(), '.') != NULL);
  names_are_listed();
  cuts_are_described();

  const cutpoint_engine_options two = {.struct_bytes = sizeof two, .threads = 2};
  cutpoint_engine* engine = NULL;
  CHECK(cutpoint_engine_create(&two, &engine, NULL) == CUTPOINT_OK);
  CHECK(cutpoint_engine_threads(engine) == 2);
  const cutpoint_feed_options options = {
      .struct_bytes = sizeof options, .cuts = "gear(avg_bytes=4K)", .back_end = "scalar"};
  a_buffer_is_cut(engine, &options);
  callbacks_get_what_is_fed(engine, &options);
  cutpoint_engine_destroy(engine);
  return 0;
}
