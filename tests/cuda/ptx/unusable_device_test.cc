// Tests the engine with devices that cannot be used or fail: the user reads one sentence, and the processor does the work.
#include <cuda_runtime_api.h>
#include <cutpoint/chunks.h>
#include <gmock/gmock.h>

#include "cuda/device/devices.h"
#include "tests/cuda/ptx/device.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

using ptx::device;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::vector<std::uint8_t>>& streams() {
  static const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(100'000, 1), mixed_stream(3'000, 2)};
  return streams;
}

device_run run_on_interpreter(int number = 0) {
  feed_options options = small_job();
  options.devices = {number};
  return run_on(std::make_shared<const device_provider>(), options, streams());
}

/// Expects that a feed with the device finds the sequential chunks, with this warning or, if it is empty, without one.
void expect_processor_result(const std::string& warning, int number = 0) {
  const device_run run = run_on_interpreter(number);
  expect_sequential(run, small_job(), streams());
  EXPECT_THAT(run.statistics.device_warning, HasSubstr(warning));
  EXPECT_EQ(run.statistics.device_warning.empty(), warning.empty());
  EXPECT_EQ(run.statistics.device_warning.find('\n'), std::string::npos);
}

/// Expects that the device is refused with a sentence that begins so, and that the processor does the work of `automatic`.
void expect_refused(const std::string& sentence) {
  const device_run refused = run_on_interpreter();
  EXPECT_EQ(refused.outcome.code(), status_code::unavailable);
  EXPECT_THAT(refused.outcome.message(), StartsWith(sentence));
  EXPECT_THAT(cuda::check_device(0).message(), StartsWith(sentence));
  recorder out;
  auto engine = engine::make({.threads = 2}).value();
  auto feed = engine.open(small_job(), out).value();
  for (std::size_t i = 0; i < streams().size(); ++i) {
    ASSERT_TRUE(feed.begin(i).ok() && feed.write(streams()[i]).ok() && feed.end().ok());
  }
  expect_sequential(feed.finish(), out, small_job(), streams());
}

TEST(device_that, works_has_no_warning) { expect_processor_result(""); }

TEST(device_that, has_no_driver_or_an_older_one_than_the_toolkit_is_refused) {
  device::instance().plant({.driver_version = 0});
  expect_refused("no NVIDIA driver was found");
  device::instance().plant({.driver_version = 12040});
  expect_refused("the NVIDIA driver supports CUDA 12.4, but this build needs CUDA 13.0 or newer");
}

TEST(device_that, is_busy_leaves_the_work_to_the_processor) {
  expect_processor_result("CUDA: device 2 is busy with another process; the processor does the work", 2);
}

TEST(device_that, has_little_free_memory_leaves_the_work_to_the_processor) {
  for (const std::uint64_t free : {0u, 100'000u, 1'000'000u}) {
    device::instance().plant({.memory_bytes = free});
    expect_processor_result("bytes of device memory failed: out of memory; the processor does the work");
  }
}

/// Feeds bytes in memory and returns how many were delivered from where they are.
std::uint64_t bytes_in_place(byte_span bytes, double pinning_rate) {
  feed_options options = small_job();
  options.where = backend::cuda;
  options.memory_bytes = 32 * MiB;
  options.rates = std::make_shared<const job_rates>(job_rates{
      .processor = {.chunking = GB}, .devices = {{.link_in = 50 * GB, .pinning = pinning_rate}}, .reading = GB});
  auto threads = engine::make({.threads = 2}).value();
  std::uint64_t count = 0;
  chunk_callback look([&](const delivered_chunk& chunk) {
    if (chunk.bytes.data() == bytes.data() + chunk.offset) count += chunk.length;
    return status();
  });
  auto feed = engine_factory::open(threads, options, look, bytes).value();
  EXPECT_TRUE(feed.begin(0).ok() && feed.write(bytes).ok() && feed.end().ok() && feed.finish().ok());
  EXPECT_EQ(feed.statistics().device_warning, "");
  EXPECT_GT(feed.statistics().device_bytes, 0u);
  return count;
}

TEST(device_that, gets_memory_of_a_caller_leaves_the_locks_of_the_host) {
  auto bytes = make_stream(content::random, 100'000, 1);
  EXPECT_EQ(bytes_in_place(bytes, 0), 0u);
  EXPECT_EQ(bytes_in_place(bytes, 1000 * GB), bytes.size());
  EXPECT_TRUE(device::instance().locked.empty());
  ASSERT_EQ(cudaHostRegister(bytes.data() + 1, bytes.size() - 1, cudaHostRegisterReadOnly), cudaSuccess);
  EXPECT_EQ(bytes_in_place(bytes, 1000 * GB), 0u) << "it is locked in part";
  EXPECT_EQ(bytes_in_place(byte_span(bytes).subspan(1), 0), bytes.size() - 1);
  EXPECT_EQ(device::instance().locked.size(), 1u);
  EXPECT_EQ(cudaHostUnregister(bytes.data() + 1), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(device_that, is_lost_at_any_call_leaves_the_work_to_the_processor) {
  std::uint64_t rest = 0;
  for (std::uint64_t calls = 1;; calls += 1 + calls / 4) {
    device::instance().plant({.calls_until_lost = calls});
    const device_run run = run_on_interpreter();
    expect_sequential(run, small_job(), streams());
    if (HasFailure()) return;
    const std::string& warning = run.statistics.device_warning;
    if (warning.empty()) break;
    EXPECT_THAT(warning, StartsWith("CUDA: "));
    EXPECT_THAT(warning, HasSubstr("failed: unknown error; the processor does the"));
    rest += warning.ends_with("rest of the work") ? 1u : 0u;
    static_cast<void>(device::instance().end_of_test());
  }
  EXPECT_GT(rest, 0u) << "the device was never lost in mid-stream";
}

}  // namespace
}  // namespace cutpoint::tests
