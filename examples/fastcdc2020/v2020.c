// Lists the chunks of files, like the crate's example of this name:
//
//     v2020 [--level=0..3] MIN AVG MAX FILE...
//
// It prints the path of each file and then its chunks. Exit codes: 0 success; 1 a file failed, the others were listed;
// 2 wrong usage.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fastcdc2020.h"

enum { done = 0, failed = 1, wrong_usage = 2 };

static const char level_option[] = "--level=";

/// Returns the bytes of a file, which the caller frees, or null with errno set.
static void* read_file(const char* path, size_t* byte_count) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char* bytes = NULL;
  size_t capacity = 1 << 20;
  *byte_count = 0;
  do {
    char* larger = realloc(bytes, capacity *= 2);
    if (larger == NULL) break;
    bytes = larger;
    *byte_count += fread(bytes + *byte_count, 1, capacity - *byte_count, file);
  } while (*byte_count == capacity);
  const int is_whole = feof(file);
  fclose(file);
  if (is_whole) return bytes;
  free(bytes);
  return NULL;
}

/// Parses a number of bytes. Returns 0, which is out of every bound, for any other text.
static uint32_t as_size(const char* word) {
  char* end = NULL;
  const unsigned long long number = strtoull(word, &end, 10);
  return *end == '\0' && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static int list_chunks(const char* path, char** sizes, unsigned level) {
  size_t byte_count = 0;
  void* bytes = read_file(path, &byte_count);
  if (bytes == NULL) {
    fprintf(stderr, "v2020: %s: %s\n", path, strerror(errno));
    return failed;
  }
  cutpoint_error error = {.code = CUTPOINT_OK};
  fastcdc2020* chunks = fastcdc2020_with_level_and_seed(bytes, byte_count, as_size(sizes[0]), as_size(sizes[1]),
                                                        as_size(sizes[2]), level, 0, &error);
  free(bytes);
  if (chunks == NULL) {
    fprintf(stderr, "v2020: %s: %s\n", path, error.message);
    return error.code == CUTPOINT_INVALID_ARGUMENT ? wrong_usage : failed;
  }
  printf("%s\n", path);
  for (fastcdc2020_chunk chunk; fastcdc2020_next(chunks, &chunk);) {
    printf("offset=%" PRIu64 " size=%" PRIu64 "\n", chunk.offset, chunk.length);
  }
  fastcdc2020_free(chunks);
  return done;
}

int main(int count, char** words) {
  const bool has_level = count > 1 && strncmp(words[1], level_option, strlen(level_option)) == 0;
  const unsigned level = has_level ? as_size(words[1] + strlen(level_option)) : 1;
  words += has_level ? 2 : 1;
  count -= has_level ? 2 : 1;
  if (count < 4) {
    fprintf(stderr, "usage: v2020 [--level=0..3] MIN AVG MAX FILE...\n");
    return wrong_usage;
  }
  int worst = done;
  for (int i = 3; i < count; ++i) {
    const int outcome = list_chunks(words[i], words, level);
    if (outcome > worst) worst = outcome;
  }
  return worst;
}
