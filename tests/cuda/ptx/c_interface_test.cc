// Tests batches through the interface for C: chunks, sizes, an allocator's workspace, a refusal, and which chunks are new.
#include <cuda_runtime_api.h>
#include <cutpoint/cutpoint_cuda.h>
#include <gtest/gtest.h>

#include "tests/cuda/device/on_device.h"
#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/hash/sha256.h"

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

/// Inserts digests of one byte and returns the positions of those that are new.
std::vector<std::uint32_t> insert(cutpoint_cuda_dedup* dedup, const std::string& digests) {
  const auto there = allocate_on_device(digests.size()).value();
  const auto positions = allocate_on_device(digests.size() * sizeof(std::uint32_t)).value();
  EXPECT_TRUE(write_to_device(there.get(), tests::as_bytes(digests)).ok());
  cutpoint_error error = {};
  std::uint32_t count = 0;
  EXPECT_EQ(cutpoint_cuda_dedup_insert(dedup, there.get(), static_cast<std::uint32_t>(digests.size()),
                                       reinterpret_cast<std::uint32_t*>(positions.get()), &count, &error),
            CUTPOINT_OK)
      << error.message;
  std::vector<std::uint32_t> inserted(count);
  const auto bytes = copy_from_device(positions.get(), count * sizeof(std::uint32_t)).value();
  std::memcpy(inserted.data(), bytes.data(), bytes.size());
  return inserted;
}

TEST(c_interface, says_which_digests_are_new) {
  using positions = std::vector<std::uint32_t>;
  cutpoint_error error = {};
  int calls = 0;
  const cutpoint_cuda_allocator allocator = {
      .struct_bytes = sizeof allocator, .context = &calls, .allocate = allocate, .deallocate = deallocate};
  const cutpoint_cuda_allocator* const allocators[] = {nullptr, &allocator};
  for (const cutpoint_cuda_allocator* each : allocators) {
    const cutpoint_cuda_dedup_options options = {
        .struct_bytes = sizeof options, .digest_bytes = 1, .device = 0, .allocator = each};
    cutpoint_cuda_dedup* dedup = nullptr;
    ASSERT_EQ(cutpoint_cuda_dedup_create(&options, nullptr, &dedup, &error), CUTPOINT_OK) << error.message;
    EXPECT_EQ(insert(dedup, "cabbage"), (positions{0, 1, 2, 5, 6}));
    EXPECT_EQ(insert(dedup, "cabbages"), (positions{7}));
    EXPECT_EQ(insert(dedup, "sage"), positions{});
    EXPECT_EQ(cutpoint_cuda_dedup_size(dedup), 6u);
    cutpoint_cuda_dedup_destroy(dedup);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  EXPECT_GT(calls, 6);
  EXPECT_EQ(calls % 2, 0);
}

TEST(c_interface, refuses_to_insert_digests_in_a_capture) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  {
    const auto digest = allocate_on_device(1).value();
    const auto position = allocate_on_device(sizeof(std::uint32_t)).value();
    const cutpoint_cuda_dedup_options options = {
        .struct_bytes = sizeof options, .digest_bytes = 1, .device = 0, .allocator = nullptr};
    cutpoint_error error = {};
    cutpoint_cuda_dedup* dedup = nullptr;
    ASSERT_EQ(cutpoint_cuda_dedup_create(&options, stream, &dedup, &error), CUTPOINT_OK) << error.message;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    std::uint32_t count = 0;
    EXPECT_EQ(cutpoint_cuda_dedup_insert(dedup, digest.get(), 1, reinterpret_cast<std::uint32_t*>(position.get()),
                                         &count, &error),
              CUTPOINT_INVALID_ARGUMENT);
    EXPECT_STREQ(error.message,
                 "the stream is captured, and inserting digests waits for it; insert them after the capture");
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    cutpoint_cuda_dedup_destroy(dedup);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace cutpoint::cuda
