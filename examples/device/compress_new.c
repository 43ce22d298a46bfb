// Compresses the chunks of files that are new, each as an LZ4 block of its own, by nvCOMP's batched compression. Cutting, deciding what is
// new and compressing are done by a GPU, where the bytes stay. It lists each new chunk: file, offset, length, compressed length.
#include <nvcomp/lz4.h>
#include <nvcomp/version.h>
#if NVCOMP_VER_MAJOR < 6
#error "compress_new needs nvCOMP 6: before, nvcompBatchedLZ4CompressGetTempSize took no stream and had another name"
#endif

#include "files_on_device.h"

static void expect_nvcomp(nvcompStatus_t outcome, const char* what) {
  if (outcome == nvcompSuccess) return;
  fprintf(stderr, "%s: nvCOMP's error %d\n", what, (int)outcome);
  exit(1);
}

/// Returns the positions of the chunks that are the first of their digest.
static uint32_t* new_chunks(const file_chunks* chunks, cudaStream_t stream, uint32_t* new_count) {
  const uint32_t count = chunks->firsts[chunks->files];
  const cutpoint_cuda_dedup_options options = {.struct_bytes = sizeof options, .digest_bytes = digest_bytes};
  uint32_t* positions = device_memory(count * sizeof *positions);
  cutpoint_cuda_dedup* known = NULL;  // a program keeps it from batch to batch
  cutpoint_error error;
  if (cutpoint_cuda_dedup_create(&options, stream, &known, &error) != CUTPOINT_OK) fail("no table of digests", &error);
  if (cutpoint_cuda_dedup_insert(known, chunks->digests, count, positions, new_count, &error) != CUTPOINT_OK) {
    fail("inserting digests", &error);
  }
  cutpoint_cuda_dedup_destroy(known);
  return download(positions, *new_count * sizeof *positions);
}

int main(int count, char** paths) {
  if (count < 2) {
    fprintf(stderr, "usage: compress_new FILE...\n");
    return 2;
  }
  cudaStream_t stream = NULL;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  const file_chunks chunks = cut_files((uint64_t)count - 1, paths + 1, stream);
  uint32_t number = 0;
  const uint32_t* positions = new_chunks(&chunks, stream, &number);
  if (number == 0) return 0;

  const void** inputs = calloc(number, sizeof *inputs);
  size_t* sizes = calloc(number, sizeof *sizes);
  uint64_t* files = calloc(number, sizeof *files);
  void** outputs = calloc(number, sizeof *outputs);
  if (inputs == NULL || sizes == NULL || files == NULL || outputs == NULL) return 1;
  size_t longest = 0;
  size_t total = 0;
  for (uint32_t i = 0; i < number; ++i) {
    files[i] = i > 0 ? files[i - 1] : 0;
    while (positions[i] >= chunks.firsts[files[i] + 1]) ++files[i];
    inputs[i] = chunks.addresses[files[i]] + chunks.offsets[positions[i]];
    sizes[i] = chunks.lengths[positions[i]];
    if (sizes[i] > longest) longest = sizes[i];
    total += sizes[i];
  }
  // Chunks begin at any address, which LZ4 of single bytes accepts.
  const nvcompBatchedLZ4CompressOpts_t how = nvcompBatchedLZ4CompressDefaultOpts;
  size_t workspace_bytes = 0;
  size_t most = 0;
  expect_nvcomp(nvcompBatchedLZ4CompressGetTempSize(number, longest, how, &workspace_bytes, total, stream),
                "workspace");
  expect_nvcomp(nvcompBatchedLZ4CompressGetMaxOutputChunkSize(longest, how, &most), "bounds");
  most = (most + 7) / 8 * 8;
  uint8_t* compressed = device_memory(most * number);
  for (uint32_t i = 0; i < number; ++i) outputs[i] = compressed + most * i;
  size_t* compressed_sizes = device_memory(number * sizeof *compressed_sizes);
  nvcompStatus_t* outcomes = device_memory(number * sizeof *outcomes);
  expect_nvcomp(
      nvcompBatchedLZ4CompressAsync(upload(inputs, number * sizeof *inputs), upload(sizes, number * sizeof *sizes),
                                    longest, number, device_memory(workspace_bytes), workspace_bytes,
                                    upload(outputs, number * sizeof *outputs), compressed_sizes, how, outcomes, stream),
      "compressing");
  expect(cudaStreamSynchronize(stream), "compressing");

  compressed_sizes = download(compressed_sizes, number * sizeof *compressed_sizes);
  outcomes = download(outcomes, number * sizeof *outcomes);
  for (uint32_t i = 0; i < number; ++i) {
    expect_nvcomp(outcomes[i], "compressing a chunk");
    printf("%s %" PRIu64 " %zu %zu\n", paths[files[i] + 1], chunks.offsets[positions[i]], sizes[i],
           compressed_sizes[i]);
  }
  return 0;
}
