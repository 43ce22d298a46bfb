// What the programs of this folder share: memory of the device, and the chunks of files that a GPU finds, all files in one batch. A
// program whose bytes are in device memory already has no need of `upload`.
#pragma once

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

/// Ends the program with the sentence of an error.
static void fail(const char* what, const cutpoint_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  exit(1);
}

/// The chunks of files. Those of file i are from `firsts[i]` to before `firsts[i + 1]`.
typedef struct file_chunks {
  uint64_t files;
  const uint8_t** addresses;  ///< of the files' bytes, in device memory
  uint32_t* firsts;           ///< these and the following are on the host
  uint64_t* offsets;
  uint32_t* lengths;
  uint8_t* digests;  ///< in device memory, SHA-256
} file_chunks;

enum { digest_bytes = 32 };

/// Cuts files by FastCDC in `stream`, and waits for that. Ends the program if it fails.
static file_chunks cut_files(uint64_t files, char** paths, cudaStream_t stream) {
  cutpoint_error error;
  cutpoint_cuda* cuda = NULL;
  const cutpoint_cuda_options options = {.struct_bytes = sizeof options, .cuts = "fastcdc", .fingerprint = "sha256"};
  if (cutpoint_cuda_create(&options, &cuda, &error) != CUTPOINT_OK) fail("no GPU", &error);

  file_chunks result = {.files = files, .addresses = calloc(files, sizeof *result.addresses)};
  uint64_t* sizes = calloc(files, sizeof *sizes);
  if (result.addresses == NULL || sizes == NULL) exit(1);
  cutpoint_cuda_bounds bounds = {.struct_bytes = sizeof bounds, .max_buffers = files, .max_total_bytes = 1};
  for (uint64_t i = 0; i < files; ++i) {
    result.addresses[i] = read_file(paths[i], &sizes[i]);
    bounds.max_total_bytes += sizes[i];
  }
  cutpoint_cuda_sizes needed = {.struct_bytes = sizeof needed};
  if (cutpoint_cuda_size(cuda, &bounds, &needed, &error) != CUTPOINT_OK) fail("sizes", &error);
  const cutpoint_cuda_batch batch = {.struct_bytes = sizeof batch,
                                     .buffers = upload(result.addresses, files * sizeof *result.addresses),
                                     .byte_counts = upload(sizes, files * sizeof *sizes)};
  const cutpoint_cuda_chunks chunks = {.struct_bytes = sizeof chunks,
                                       .first_chunks = device_memory((files + 1) * sizeof(uint32_t)),
                                       .offsets = device_memory(needed.max_chunks * sizeof(uint64_t)),
                                       .lengths = device_memory(needed.max_chunks * sizeof(uint32_t)),
                                       .digests = device_memory(needed.max_chunks * digest_bytes),
                                       .problem = device_memory(sizeof(uint32_t))};
  void* workspace = device_memory(needed.workspace_bytes);
  if (cutpoint_cuda_enqueue(cuda, &bounds, &batch, &chunks, workspace, needed.workspace_bytes, stream, &error) !=
      CUTPOINT_OK) {
    fail("batch", &error);
  }
  expect(cudaStreamSynchronize(stream), "cutting");

  const uint32_t* problem = download(chunks.problem, sizeof(uint32_t));
  if (cutpoint_cuda_describe_problem(*problem, &bounds, &error) != CUTPOINT_OK) fail("batch", &error);
  result.firsts = download(chunks.first_chunks, (files + 1) * sizeof(uint32_t));
  result.offsets = download(chunks.offsets, result.firsts[files] * sizeof(uint64_t));
  result.lengths = download(chunks.lengths, result.firsts[files] * sizeof(uint32_t));
  result.digests = chunks.digests;
  cutpoint_cuda_destroy(cuda);  // the system takes back the rest
  return result;
}
