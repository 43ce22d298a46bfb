// Lists the chunks of files, one on each line: file, offset, length, SHA-256. A GPU finds them, all files in one batch.
#include "files_on_device.h"

int main(int count, char** paths) {
  if (count < 2) {
    fprintf(stderr, "usage: device_chunks FILE...\n");
    return 2;
  }
  cudaStream_t stream = NULL;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  const file_chunks chunks = cut_files((uint64_t)count - 1, paths + 1, stream);
  const uint8_t* digests = download(chunks.digests, chunks.firsts[chunks.files] * digest_bytes);
  for (uint64_t i = 0; i < chunks.files; ++i) {
    for (uint32_t k = chunks.firsts[i]; k < chunks.firsts[i + 1]; ++k) {
      printf("%s %" PRIu64 " %" PRIu32 " ", paths[i + 1], chunks.offsets[k], chunks.lengths[k]);
      for (uint64_t b = 0; b < digest_bytes; ++b) printf("%02x", digests[k * digest_bytes + b]);
      printf("\n");
    }
  }
  return 0;
}
