// Feeds to devices, which host doubles stand for, and what they must deliver.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/engine.h>
#include <gtest/gtest.h>

#include "pipeline/engine/engine_pool.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {

// Descriptions of imaginary GPUs, and the unit of their speeds.

inline constexpr double GB = 1e9;

inline gpu_info gpu(int index, const std::string& name) {
  gpu_info gpu;
  gpu.index = index;
  gpu.name = name;
  return gpu;
}

/// Rates with which devices only fingerprint, because they cut slowly.
inline std::shared_ptr<const job_rates> slow_device_cuts(std::size_t device_count) {
  job_rates rates;
  rates.processor = {.chunking = 1e9, .fingerprinting = 1e6};
  for (std::size_t i = 0; i < device_count; ++i) {
    const int device = static_cast<int>(i);
    rates.devices.push_back({.device = device, .link_in = 50e9, .chunking = 1e6, .fingerprinting = 100e9});
  }
  return std::make_shared<const job_rates>(rates);
}

/// Provides the devices 0 and 1, except one that is `lost`. Before each call they call `before`, and fail if it fails.
class host_device final : public device_provider {
 public:
  explicit host_device(std::function<status(cuda::executor_call)> before = {}, int lost = -1)
      : before_(std::move(before)), lost_(lost) {}

  status check(int device) const override {
    return device <= 1 ? status() : status(status_code::invalid_argument, "there are two devices");
  }
  result<std::unique_ptr<cuda::offload>> make(int device, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    if (status there = check(device); !there.ok()) return there;
    if (device == lost_) return status(status_code::backend_failure, "the device is lost");
    return cuda::make_host_offload({.order = cuda::thread_order::reversed(), .before = before_}, cuts, fingerprint,
                                   limits, use);
  }

 private:
  std::function<status(cuda::executor_call)> before_;
  int lost_;
};

struct feed_run {
  status outcome;
  feed_statistics statistics = {};
};

inline feed_run feed_on(std::shared_ptr<const device_provider> devices, feed_options options,
                        const std::vector<std::vector<std::uint8_t>>& streams, chunk_receiver& receiver) {
  if (options.where == backend::automatic) options.where = backend::cuda;
  // All of a ring for a device is prepared before the first byte, which takes longer than such short streams.
  if (options.memory_bytes == feed_options{.cuts = options.cuts}.memory_bytes) options.memory_bytes = 32 * MiB;
  auto threads = engine_factory::make({.threads = 2}, std::move(devices)).value();
  auto feed = threads.open(options, receiver);
  if (!feed) return {.outcome = feed.error()};
  status outcome = feed_streams(*feed, streams);
  return {.outcome = std::move(outcome), .statistics = feed->statistics()};
}

struct device_run {
  status outcome;
  recorder out;
  feed_statistics statistics;
};

inline device_run run_on(std::shared_ptr<const device_provider> devices, const feed_options& options,
                         const std::vector<std::vector<std::uint8_t>>& streams) {
  recorder out;
  feed_run run = feed_on(std::move(devices), options, streams, out);
  return {std::move(run.outcome), std::move(out), std::move(run.statistics)};
}

inline void expect_sequential(const status& outcome, const recorder& out, const feed_options& options,
                              const std::vector<std::vector<std::uint8_t>>& streams) {
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  ASSERT_EQ(out.fault, "");
  ASSERT_EQ(out.streams.size(), streams.size());
  auto fingerprint = fingerprinter::make(options.fingerprint);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const recorded_stream& got = out.streams[i];
    ASSERT_EQ(got.chunks, options.cuts.find_cuts(streams[i])) << "stream " << i;
    ASSERT_EQ(got.bytes, streams[i]);
    for (std::size_t c = 0; c < got.chunks.size(); ++c) {
      const byte_span bytes = byte_span(streams[i]).subspan(got.chunks[c].offset, got.chunks[c].length);
      ASSERT_EQ(got.fingerprints[c], fingerprint->operator()(bytes).value()) << "stream " << i << ", chunk " << c;
    }
  }
}

inline void expect_sequential(const device_run& run, const feed_options& options,
                              const std::vector<std::vector<std::uint8_t>>& streams) {
  expect_sequential(run.outcome, run.out, options, streams);
}

/// Returns options with segments that are much longer than chunks.
inline feed_options small_job(fingerprint_kind kind = fingerprint_kind::sha1) {
  return {.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 1024}),
          .fingerprint = kind,
          .segment_bytes = 20'000};
}

}  // namespace cutpoint::tests
