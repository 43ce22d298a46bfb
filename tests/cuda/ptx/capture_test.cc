// Tests that a stream can capture a batch of buffers: the call does nothing that CUDA forbids then, and the graph does the work
// again for whatever sizes within the bounds the device's memory has at that time.
#include <array>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/cuda/ptx/device.h"
#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/counting_allocator.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

using ptx::device;
using ptx::device_call;

class capture : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  void TearDown() override {
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  cudaStream_t stream_ = nullptr;
};

host_buffers buffers_of(std::initializer_list<std::size_t> sizes) {
  host_buffers all;
  for (const std::size_t size : sizes) all.add(random_bytes(size, size), size % 16);
  return all;
}

TEST_F(capture, of_a_batch_can_be_replayed_with_other_sizes) {
  const chunker cuts = small_gear();
  for (const fingerprint_recipe& recipe : device_recipes()) {
    const auto runner = buffer_runner_cases().front().make(cuts, recipe, 1);
    const auto batches = device_batch_chunker::make(cuts, recipe);
    ASSERT_TRUE(runner && batches);
    const device_batch_bounds bounds{.max_buffers = 5, .max_total_bytes = 8'000};
    batch_arrays arrays(*runner, bounds);
    const auto workspace = runner->allocate(arrays.workspace_bytes());
    const std::uint64_t calls_before = device::instance().calls;
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    const status captured =
        batches->enqueue(bounds, arrays.input(), arrays.output(), workspace.get(), arrays.workspace_bytes(), stream_);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    ASSERT_TRUE(captured.ok()) << captured.message();
    EXPECT_LT(device::instance().calls - calls_before, 60u);  // and none for each buffer
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (const auto& buffers : {buffers_of({3'000, 17, 0, 500}), buffers_of({}), buffers_of({8'000}),
                                buffers_of({1, 2, 3, 4, 5}), buffers_of({4'000, 4'000})}) {
      arrays.write(buffers);
      ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
      ASSERT_NO_FATAL_FAILURE(arrays.expect_chunks(buffers, cuts, recipe));
    }
    arrays.write(buffers_of({8'001}));
    ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(arrays.problem(), device_batch_problem::buffer_too_long);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  }
}

TEST_F(capture, is_refused_what_CUDA_forbids) {
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  void* other = nullptr;
  EXPECT_NE(cudaMalloc(&other, 64), cudaSuccess);
  EXPECT_NE(cudaFree(memory), cudaSuccess);
  EXPECT_NE(cudaMallocHost(&other, 64), cudaSuccess);
  EXPECT_NE(cudaMemset(memory, 0, 64), cudaSuccess);
  EXPECT_NE(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_NE(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_NE(cudaStreamWaitEvent(stream_, event, 0), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(memory, 0, 64, stream_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(device::instance().faults.size(), 8u);
  device::instance().faults.clear();  // they were planted
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(capture, of_a_stream_is_seen) {
  const auto expect = [&](bool is_seen) {
    const auto captured = is_captured(stream_), default_captured = is_captured(nullptr);
    ASSERT_TRUE(captured && default_captured);
    EXPECT_EQ(*captured, is_seen);
    EXPECT_FALSE(*default_captured);
  };
  ASSERT_NO_FATAL_FAILURE(expect(false));
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_NO_FATAL_FAILURE(expect(true));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_NO_FATAL_FAILURE(expect(false));
}

TEST(streams, wait_for_the_work_of_others) {
  std::array<cudaStream_t, 2> streams{};
  for (cudaStream_t& each : streams) ASSERT_EQ(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking), cudaSuccess);
  std::uint32_t value = 0;
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, sizeof value), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 1, sizeof value, streams[0]), cudaSuccess);
  ASSERT_TRUE(wait_for_stream(streams[1], streams[0]).ok());
  ASSERT_EQ(cudaMemcpyAsync(&value, memory, sizeof value, cudaMemcpyDeviceToHost, streams[1]), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(streams[1]), cudaSuccess);
  EXPECT_EQ(value, 0x01010101u);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  for (cudaStream_t each : streams) EXPECT_EQ(cudaStreamDestroy(each), cudaSuccess);
}

TEST_F(capture, or_an_allocator_gives_the_workspace_elsewhere) {
  const chunker cuts = small_gear();
  const fingerprint_recipe recipe = fingerprint_kind::blake3;
  const auto runner = buffer_runner_cases().front().make(cuts, recipe, 1);
  const auto batches = device_batch_chunker::make(cuts, recipe);
  ASSERT_TRUE(runner && batches);
  const host_buffers buffers = buffers_of({3'000, 17, 0, 500});
  const device_batch_bounds bounds{.max_buffers = 4, .max_total_bytes = 4'000};
  batch_arrays arrays(*runner, bounds);
  arrays.write(buffers);
  memory_count count;
  counting_allocator memory(count);
  ASSERT_TRUE(batches->enqueue(bounds, arrays.input(), arrays.output(), memory, stream_).ok());
  EXPECT_LT(count.allocations_left, -1);
  EXPECT_EQ(count.live_bytes, 0);
  ASSERT_NO_FATAL_FAILURE(arrays.expect_chunks(buffers, cuts, recipe));
  count.allocations_left = 0;
  const status refused = batches->enqueue(bounds, arrays.input(), arrays.output(), memory, stream_);
  EXPECT_EQ(refused.code(), status_code::memory_limit);
  EXPECT_EQ(refused.message(),
            "the allocator has no " + std::to_string(arrays.workspace_bytes()) + " bytes of workspace");
}

// A batch calls the runtime rarely, since each call costs time beside the batch's work, and no kernel is in the program
// many times.

/// Fingerprints are SHA-1, and the kernels have been launched before. Beside copies, clearing and waits, 6 calls record the
/// batch's times, 5 read them, 2 record what is waited for, and 2 make the device current and the former one again.
TEST(calls, of_a_batch_are_few) {
  const auto stream = random_bytes(200'000, 1);
  packed_streams batch;
  batch.add(stream);
  const auto work = make_offload(0, small_gear(), fingerprint_kind::sha1, {.bytes = stream.size(), .stream_ranges = 1});
  ASSERT_TRUE(work.ok()) << work.error().message();
  batch_output output;
  ASSERT_TRUE((*work)->run(batch.input(), output).ok());
  std::map<device_call, int> counts;
  device::instance().plant({.lose = [&](device_call call) { return ++counts[call] == 0; }});
  ASSERT_TRUE((*work)->run(batch.input(), output).ok());
  const std::uint64_t calls = device::instance().calls;
  device::instance().plant({});
  EXPECT_EQ(counts[device_call::copy], 5);   // description and bytes in; counters, lengths and digests out
  EXPECT_EQ(counts[device_call::clear], 1);  // counters
  EXPECT_EQ(counts[device_call::wait], 2);   // for the counters, and for the results
  EXPECT_EQ(calls, 23u + 12u);               // with ten launches, a prefix sum and a sort
}

TEST(kernels, that_do_not_depend_on_the_cuts_are_in_the_program_once) {
  std::set<std::string> names;
  for (const auto& [function, code] : device::instance().kernels) {
    const bool is_for_any_cuts = code.name.find("cut_finder") == std::string::npos;
    EXPECT_TRUE(!is_for_any_cuts || names.insert(code.name).second) << code.name;
  }
  EXPECT_GT(names.size(), 10u);
}

}  // namespace
}  // namespace cutpoint::cuda
