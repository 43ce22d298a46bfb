// Tests batches on two interpreted devices at once, by one thread and by several. The devices' memory, streams and limits of kernels
// are apart, and a call that has the wrong one current is a fault.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/cuda/device/on_device.h"
#include "tests/cuda/ptx/device.h"
#include "tests/cuda/support/buffer_runner.h"
#include "tests/cuda/support/executor_cases.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::cuda {
namespace {

using ptx::device;

/// Makes a device the thread's current one, and the former again.
class current_device_until_end {
 public:
  explicit current_device_until_end(int number) {
    EXPECT_EQ(cudaGetDevice(&former_), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(number), cudaSuccess);
  }
  current_device_until_end(const current_device_until_end&) = delete;
  current_device_until_end& operator=(const current_device_until_end&) = delete;
  ~current_device_until_end() { EXPECT_EQ(cudaSetDevice(former_), cudaSuccess); }

 private:
  int former_ = 0;
};

/// Memory and a stream of one device, which is current for them, but not when batches are enqueued.
class runner_on final : public buffer_runner {
 public:
  runner_on(int number, const device_batch_chunker& batches) : number_(number), batches_(batches) {
    const current_device_until_end here(number_);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  runner_on(const runner_on&) = delete;
  runner_on& operator=(const runner_on&) = delete;
  ~runner_on() override {
    const current_device_until_end here(number_);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  std::shared_ptr<std::uint8_t> allocate(std::size_t size) override {
    const current_device_until_end here(number_);
    return allocate_on_device(size).value();
  }
  void write(std::uint8_t* destination, byte_span bytes) override {
    const current_device_until_end here(number_);
    EXPECT_TRUE(write_to_device(destination, bytes).ok());
  }
  std::vector<std::uint8_t> read(const std::uint8_t* source, std::size_t size) override {
    const current_device_until_end here(number_);
    return copy_from_device(source, size).value();
  }
  std::uint32_t digest_bytes() const override { return batches_.digest_bytes(); }
  result<std::uint64_t> max_chunks(const device_batch_bounds& bounds) override { return batches_.max_chunks(bounds); }
  result<std::uint64_t> workspace_bytes(const device_batch_bounds& bounds) override {
    return batches_.workspace_bytes(bounds);
  }
  status enqueue(const device_batch_bounds& bounds, const device_batch& batch, const device_batch_chunks& chunks,
                 std::uint8_t* workspace, std::uint64_t workspace_byte_count) override {
    return batches_.enqueue(bounds, batch, chunks, workspace, workspace_byte_count, stream_);
  }

 private:
  int number_;
  const device_batch_chunker& batches_;
  cudaStream_t stream_ = nullptr;
};

host_buffers some_buffers(std::size_t seed) {
  host_buffers all;
  for (const std::size_t size : {5'000u, 0u, 17u, 900u}) all.add(random_bytes(size + seed, size + seed));
  return all;
}

TEST(several_devices, cut_in_turns_whichever_is_current) {
  // The scans of rabin and crc32 ask for more shared memory than a kernel may have without, on each device anew.
  for (const char* name : {"gear", "rabin", "crc32", "seqcdc-inc", "fastcdc"}) {
    const auto entry = find_entry(name);
    ASSERT_TRUE(entry.ok()) << name;
    const chunker cuts = small_chunker(**entry);
    std::vector<device_batch_chunker> batches;
    for (const int number : {0, 1})
      batches.push_back(device_batch_chunker::make(cuts, fingerprint_kind::sha256, number).value());
    const host_buffers buffers[] = {some_buffers(1), some_buffers(2)};
    runner_on first(0, batches[0]);
    runner_on second(1, batches[1]);
    batch_arrays arrays[] = {{first, buffers[0].bounds()}, {second, buffers[1].bounds()}};
    for (const std::size_t i : {0U, 1U}) arrays[i].write(buffers[i]);
    for (int round = 0; round < 2; ++round) {
      for (batch_arrays& each : arrays) {
        const status enqueued = each.enqueue();
        ASSERT_TRUE(enqueued.ok()) << name << ": " << enqueued.message();
      }
      for (const std::size_t i : {0U, 1U}) {
        ASSERT_NO_FATAL_FAILURE(arrays[i].expect_chunks(buffers[i], cuts, fingerprint_kind::sha256));
      }
    }
  }
}

TEST(several_devices, are_used_by_threads_that_share_chunkers) {
  const chunker cuts = small_gear();
  std::vector<device_batch_chunker> batches;
  for (const int number : {0, 1})
    batches.push_back(device_batch_chunker::make(cuts, fingerprint_kind::blake3, number).value());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const device_batch_chunker& chosen = batches[t % 2];
      for (std::size_t round = 0; round < 3; ++round) {
        const host_buffers buffers = some_buffers(10 * t + round);
        runner_on there(static_cast<int>(t % 2), chosen);
        batch_arrays arrays(there, buffers.bounds());
        const status run = arrays.run(buffers);
        EXPECT_TRUE(run.ok()) << run.message();
        arrays.expect_chunks(buffers, cuts, fingerprint_kind::blake3);
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(several_devices, refuse_the_stream_of_another) {
  {
    const auto batches = device_batch_chunker::make(small_gear(), fingerprint_kind::none, 1);
    ASSERT_TRUE(batches.ok()) << batches.error().message();
    const host_buffers buffers = some_buffers(1);
    runner_on there(0, *batches);
    EXPECT_EQ(batch_arrays(there, buffers.bounds()).run(buffers).code(), status_code::backend_failure);
  }
  const auto faults = device::instance().end_of_test();
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.front(), "work is put into a stream of another device");
}

TEST(several_devices, share_the_work_of_a_feed) {
  feed_options options = tests::small_job();
  options.devices = {0, 1};
  const std::vector<std::vector<std::uint8_t>> streams = {tests::mixed_stream(300'000, 1),
                                                          tests::mixed_stream(3'000, 2)};
  const tests::device_run run = tests::run_on(std::make_shared<const device_provider>(), options, streams);
  tests::expect_sequential(run, options, streams);
  EXPECT_EQ(run.statistics.device_warning, "");
  EXPECT_GT(run.statistics.device_bytes, 100'000u);
}

}  // namespace
}  // namespace cutpoint::cuda
