// Lists the chunks of files, one on each line: file, offset, length, SHA-256. A GPU finds them, all files in one batch. A program
// whose bytes are in device memory already has no need of `upload`.
#include <cuda_runtime_api.h>
#include <cutpoint/cutpoint_cuda.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/// Ends the program if a call of CUDA fails.
static void expect(cudaError_t outcome, const char* what) {
  if (outcome == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(outcome));
  exit(1);
}

/// Kernels read whole multiples of 16 bytes, so that the memory is one.
static void* device_memory(uint64_t byte_count) {
  void* memory = NULL;
  expect(cudaMalloc(&memory, byte_count / 16 * 16 + 16), "allocating device memory");
  return memory;
}

static void* upload(const void* bytes, uint64_t byte_count) {
  void* memory = device_memory(byte_count);
  expect(cudaMemcpy(memory, bytes, byte_count, cudaMemcpyHostToDevice), "copying to the device");
  return memory;
}

static void* download(void* memory, uint64_t byte_count) {
  void* bytes = malloc(byte_count + 1);
  if (bytes == NULL) exit(1);
  expect(cudaMemcpy(bytes, memory, byte_count, cudaMemcpyDeviceToHost), "copying from the device");
  expect(cudaFree(memory), "freeing device memory");
  return bytes;
}

/// Reads a file to device memory. Ends the program if it cannot be read.
static const uint8_t* read_file(const char* path, uint64_t* byte_count) {
  FILE* file = fopen(path, "rb");
  char* bytes = NULL;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(1);
  }
  *byte_count = (uint64_t)ftell(file);
  rewind(file);
  bytes = malloc(*byte_count + 1);
  if (bytes == NULL || fread(bytes, 1, *byte_count, file) != *byte_count) {
    perror(path);
    exit(1);
  }
  fclose(file);
  const uint8_t* there = upload(bytes, *byte_count);
  free(bytes);
  return there;
}

static void fail(const char* what, const cutpoint_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

int main(int count, char** paths) {
  const uint64_t files = count > 1 ? (uint64_t)count - 1 : 0;
  if (files == 0) {
    fprintf(stderr, "usage: device_chunks FILE...\n");
    return 2;
  }
  cutpoint_error error;
  cutpoint_cuda* cuda = NULL;
  const cutpoint_cuda_options options = {.struct_bytes = sizeof options, .cuts = "fastcdc", .fingerprint = "sha256"};
  if (cutpoint_cuda_create(&options, &cuda, &error) != CUTPOINT_OK) fail("no GPU", &error);

  const uint8_t** addresses = calloc(files, sizeof *addresses);
  uint64_t* sizes = calloc(files, sizeof *sizes);
  if (addresses == NULL || sizes == NULL) return 1;
  cutpoint_cuda_bounds bounds = {.struct_bytes = sizeof bounds, .max_buffers = files, .max_total_bytes = 1};
  for (uint64_t i = 0; i < files; ++i) {
    addresses[i] = read_file(paths[i + 1], &sizes[i]);
    bounds.max_total_bytes += sizes[i];
  }
  cutpoint_cuda_sizes needed = {.struct_bytes = sizeof needed};
  if (cutpoint_cuda_size(cuda, &bounds, &needed, &error) != CUTPOINT_OK) fail("sizes", &error);
  const cutpoint_cuda_batch batch = {.struct_bytes = sizeof batch,
                                     .buffers = upload(addresses, files * sizeof *addresses),
                                     .byte_counts = upload(sizes, files * sizeof *sizes)};
  const cutpoint_cuda_chunks chunks = {.struct_bytes = sizeof chunks,
                                       .first_chunks = device_memory((files + 1) * sizeof(uint32_t)),
                                       .offsets = device_memory(needed.max_chunks * sizeof(uint64_t)),
                                       .lengths = device_memory(needed.max_chunks * sizeof(uint32_t)),
                                       .digests = device_memory(needed.max_chunks * needed.digest_bytes),
                                       .problem = device_memory(sizeof(uint32_t))};
  void* workspace = device_memory(needed.workspace_bytes);
  cudaStream_t stream = NULL;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  if (cutpoint_cuda_enqueue(cuda, &bounds, &batch, &chunks, workspace, needed.workspace_bytes, stream, &error) !=
      CUTPOINT_OK) {
    fail("batch", &error);
  }
  expect(cudaStreamSynchronize(stream), "cutting");

  const uint32_t* problem = download(chunks.problem, sizeof(uint32_t));
  if (cutpoint_cuda_describe_problem(*problem, &bounds, &error) != CUTPOINT_OK) fail("batch", &error);
  const uint32_t* firsts = download(chunks.first_chunks, (files + 1) * sizeof(uint32_t));
  const uint64_t* offsets = download(chunks.offsets, firsts[files] * sizeof(uint64_t));
  const uint32_t* lengths = download(chunks.lengths, firsts[files] * sizeof(uint32_t));
  const uint8_t* digests = download(chunks.digests, firsts[files] * needed.digest_bytes);
  for (uint64_t i = 0; i < files; ++i) {
    for (uint32_t k = firsts[i]; k < firsts[i + 1]; ++k) {
      printf("%s %" PRIu64 " %" PRIu32 " ", paths[i + 1], offsets[k], lengths[k]);
      for (uint64_t b = 0; b < needed.digest_bytes; ++b) printf("%02x", digests[k * needed.digest_bytes + b]);
      printf("\n");
    }
  }
  cutpoint_cuda_destroy(cuda);  // the system takes back the rest
  return 0;
}
