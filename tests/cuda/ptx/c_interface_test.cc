// Tests batches through the interface for C: chunks, sizes, an allocator's workspace, and a refusal.
#include <cuda_runtime_api.h>
#include <cutpoint/cutpoint_cuda.h>
#include <gtest/gtest.h>

#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

void* allocate(void* context, uint64_t byte_count, CUstream_st*) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, byte_count), cudaSuccess);
  ++*static_cast<int*>(context);
  return memory;
}
void deallocate(void* context, void* memory, uint64_t, CUstream_st* stream) {
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  ++*static_cast<int*>(context);
}

TEST(c_interface, cuts_and_fingerprints_as_the_references_do) {
  const chunker cuts = small_gear();
  const fingerprint_recipe recipe = fingerprint_kind::sha256;
  host_buffers buffers;
  for (const std::size_t size : {3'000u, 17u, 0u, 500u}) buffers.add(random_bytes(size, size), size % 16);
  const auto runner = buffer_runner_cases().front().make(cuts, recipe, 1);
  ASSERT_TRUE(runner);
  batch_arrays arrays(*runner, buffers.bounds());
  arrays.write(buffers);

  const std::string canonical = cuts.canonical();
  cutpoint_error error = {};
  cutpoint_cuda_options options = {};
  options.struct_bytes = sizeof options;
  options.cuts = canonical.c_str();
  cutpoint_cuda* batches = nullptr;
  ASSERT_EQ(cutpoint_cuda_create(&options, &batches, &error), CUTPOINT_OK) << error.message;
  const cutpoint_cuda_bounds bounds = {.struct_bytes = sizeof bounds,
                                       .max_buffers = buffers.bounds().max_buffers,
                                       .max_buffer_bytes = buffers.bounds().max_buffer_bytes,
                                       .max_total_bytes = buffers.bounds().max_total_bytes,
                                       .max_chunks = 0};
  cutpoint_cuda_sizes sizes = {};
  sizes.struct_bytes = sizeof sizes;
  ASSERT_EQ(cutpoint_cuda_size(batches, &bounds, &sizes, &error), CUTPOINT_OK) << error.message;
  EXPECT_EQ(sizes.workspace_bytes, arrays.workspace_bytes());
  EXPECT_EQ(sizes.max_chunks, arrays.max_chunks());
  EXPECT_EQ(sizes.digest_bytes, 32u);

  const cutpoint_cuda_batch batch = {.struct_bytes = sizeof batch,
                                     .buffers = arrays.input().buffers,
                                     .byte_counts = arrays.input().byte_counts,
                                     .buffer_count = arrays.input().buffer_count,
                                     .ends = arrays.input().ends};
  const cutpoint_cuda_chunks chunks = {.struct_bytes = sizeof chunks,
                                       .first_chunks = arrays.output().first_chunks,
                                       .offsets = arrays.output().offsets,
                                       .lengths = arrays.output().lengths,
                                       .digests = arrays.output().digests,
                                       .problem = arrays.output().problem};
  const auto workspace = runner->allocate(sizes.workspace_bytes);
  EXPECT_EQ(cutpoint_cuda_enqueue(batches, &bounds, &batch, &chunks, workspace.get(), sizes.workspace_bytes - 1,
                                  nullptr, &error),
            CUTPOINT_INVALID_ARGUMENT);
  ASSERT_EQ(
      cutpoint_cuda_enqueue(batches, &bounds, &batch, &chunks, workspace.get(), sizes.workspace_bytes, nullptr, &error),
      CUTPOINT_OK)
      << error.message;
  ASSERT_NO_FATAL_FAILURE(arrays.expect_chunks(buffers, cuts, recipe));

  int calls = 0;
  const cutpoint_cuda_allocator allocator = {
      .struct_bytes = sizeof allocator, .context = &calls, .allocate = allocate, .deallocate = deallocate};
  ASSERT_EQ(cutpoint_cuda_enqueue_allocating(batches, &bounds, &batch, &chunks, &allocator, nullptr, &error),
            CUTPOINT_OK)
      << error.message;
  EXPECT_EQ(calls, 2);
  ASSERT_NO_FATAL_FAILURE(arrays.expect_chunks(buffers, cuts, recipe));
  cutpoint_cuda_destroy(batches);
}

}  // namespace
}  // namespace cutpoint::cuda
