// Tests of the engine with the processor and devices together: every kind of work on devices is exact, no device gets more
// than it has room for, and the processor does the work of a device that fails.
#include <array>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/backends/device_lanes.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {
namespace {

using cuda::executor_call;
using testing::HasSubstr;

/// Returns options for the processor and devices together.
feed_options hybrid_job(backend where, fingerprint_kind kind = fingerprint_kind::sha1) {
  feed_options options = small_job(kind);
  options.where = where;
  options.segment_bytes = 10'000;
  options.batch_bytes = 40'000;
  options.memory_bytes = 300'000;  // less than the streams, so that the feed must wait for the device's batches
  return options;
}

constexpr std::array device_backends = {backend::cuda, backend::hybrid};

std::uint64_t bytes_on_devices(const feed_statistics& statistics, stage which) {
  std::uint64_t bytes = 0;
  for (const lane_record& each : statistics.lanes) bytes += each.device >= 0 ? each.at(which).bytes : 0;
  return bytes;
}

/// ThreadSanitizer sees here whether they are read while a lane of the device writes.
TEST(hybrid, has_consistent_statistics_while_its_lanes_work) {
  const std::vector<std::uint8_t> stream = mixed_stream(400'000, 1);
  recorder out;
  auto threads = engine_factory::make({.threads = 2}, std::make_shared<host_device>()).value();
  auto feed = threads.open(hybrid_job(backend::cuda), out).value();
  ASSERT_TRUE(feed.begin(0).ok());
  for (std::size_t first = 0; first < stream.size(); first += 1000) {
    ASSERT_TRUE(feed.write(byte_span(stream).subspan(first, 1000)).ok());
    const feed_statistics now = feed.statistics();
    ASSERT_EQ(now.device_bytes, bytes_on_devices(now, stage::chunking));
  }
  ASSERT_TRUE(feed.end().ok() && feed.finish().ok());
  EXPECT_GT(feed.statistics().device_bytes, 300'000u);
}

/// The chunks are selected, and work on them is performed on the processor's lanes, also where devices do all other work.
TEST(hybrid, is_exact_with_every_kind_of_work_on_devices) {
  const std::vector<std::vector<std::uint8_t>> streams = {
      mixed_stream(400'000, 1), {}, mixed_stream(70'000, 2), mixed_stream(3, 3)};
  for (const backend where : device_backends) {
    for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3}) {
      for (const bool cut_slowly : {false, true}) {
        feed_options options = hybrid_job(where, kind);
        if (kind == fingerprint_kind::sha256) options.devices = {0, 1};
        if (cut_slowly) options.rates = slow_device_cuts(options.devices.size());
        selecting_recorder receiver;
        const feed_run run = feed_on(std::make_shared<host_device>(), options, streams, receiver);
        ASSERT_NO_FATAL_FAILURE(expect_sequential(run.outcome, receiver.out, options, streams)) << to_string(where);
        EXPECT_EQ(receiver.waiting_count(), 0u);
        EXPECT_EQ(receiver.living_work, 0);
        EXPECT_EQ(run.statistics.device_warning, "");
        EXPECT_EQ(run.statistics.plan, where == backend::cuda ? work_plan::device : work_plan::shared);
        // With `hybrid` the processor may be done before a device's thread has woken.
        const std::uint64_t cut_bytes = bytes_on_devices(run.statistics, stage::chunking);
        if (where == backend::cuda) {
          EXPECT_GT(cut_bytes, 0u);
        } else if (cut_slowly) {
          EXPECT_EQ(cut_bytes, 0u);
        }
      }
    }
  }
}

TEST(hybrid, fingerprints_chunks_on_the_device_that_only_the_processor_cuts) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(300'000, 1)};
  feed_options options = hybrid_job(backend::hybrid);
  options.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 0});
  const device_run run = run_on(std::make_shared<host_device>(), options, streams);
  expect_sequential(run, options, streams);
  EXPECT_EQ(run.statistics.device_warning, "");
  EXPECT_EQ(run.statistics.fingerprinted_on, backend::hybrid);
  EXPECT_NE(run.statistics.chunked_on, backend::hybrid);
}

TEST(hybrid, gives_a_device_no_more_chunks_than_it_has_room_for) {
  std::vector<std::uint8_t> bytes = mixed_stream(30'000, 1);
  feed_options options = hybrid_job(backend::hybrid);
  options.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 0});
  recorder out;
  auto feed = stepped_feed::make(options, 1, out, [&] {
                return make_one_by_one_fingerprinter(fingerprinter::make(options.fingerprint).value());
              }).value();
  const std::uint64_t most = feed->configuration().devices[0].batch_chunks;
  for (std::size_t i = 0; i < bytes.size(); ++i) {  // a stream of one chunk for each byte
    feed->begin(i);
    feed->put({&bytes[i], 1});
    feed->end({});
  }
  feed->finish();
  std::uint64_t largest = 0;
  for (bool works = true; works;) {
    works = false;
    for (const std::size_t lane : {1u, 0u}) {  // the device's lane first
      if (!feed->take(lane, 0)) continue;
      works = true;
      std::uint64_t count = 0;
      if (const auto* task_taken = std::get_if<fingerprint_task>(&feed->current_task(lane).work);
          task_taken != nullptr && lane == 1) {
        for (const fingerprint_task::batch_range& each : task_taken->ranges)
          count += each.which.last - each.which.first;
      }
      largest = std::max(largest, count);
      feed->perform(lane);
      feed->hand_back(lane, 0);
    }
  }
  EXPECT_EQ(out.streams.size(), bytes.size());
  EXPECT_LE(largest, most);
  EXPECT_GT(largest, most_chunks_in_range / 2);
}

TEST(hybrid, fingerprints_as_many_chunks_on_the_device_as_it_has_room_for) {
  const chunker cuts = *chunker::make(gear_parameters{.avg_bytes = 8192, .min_bytes = 2048, .max_bytes = 0});
  const cuda::batch_limits limits = fingerprint_limits({.batch_bytes = 256 * KiB, .batch_chunks = 5'000});
  const auto offload =
      value_of(host_device().make(0, cuts, fingerprint_kind::sha1, limits, cuda::offload_use::fingerprint));
  const auto bytes = value_of(ring::make(256 * KiB));
  joined_batch batch;
  while (batch.chunks.size() < 5'000) batch.chunks.push_back({.where = {batch.chunks.size() * 2, 2}});
  fingerprint_task work{.ranges = {{.batch = &batch, .which = {.first = 0, .last = batch.chunks.size()}}}};
  lane worker;
  for (const std::uint64_t longest : {2u, 1u}) {
    const auto done = value_of(fingerprint_on_device(work, {.ring = &bytes}, limits, longest, *offload, worker));
    EXPECT_EQ(done, longest == 2);
  }
}

/// The device fails at a call of one kind and at all later calls of that kind, like a device that is lost.
class device_faults : public testing::TestWithParam<std::tuple<executor_call, backend, bool>> {};

TEST_P(device_faults, are_made_good_by_the_processor) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(150'000, 1), mixed_stream(10, 2),
                                                          mixed_stream(60'000, 3)};
  const auto [failing, where, only_fingerprints] = GetParam();
  feed_options options = hybrid_job(where);
  if (only_fingerprints) options.rates = slow_device_cuts(1);
  bool has_failed = true;
  for (int good_calls = 0; has_failed; good_calls += 1 + good_calls / 3) {
    std::atomic<int> calls = 0;
    const auto lost = [&, failing_call = failing](executor_call call) {
      if (call != failing_call || calls++ < good_calls) return status();
      const bool is_memory = call == executor_call::allocate;
      return status(is_memory ? status_code::memory_limit : status_code::backend_failure, "the device is lost");
    };
    const device_run run = run_on(std::make_shared<host_device>(lost), options, streams);
    ASSERT_NO_FATAL_FAILURE(expect_sequential(run, options, streams)) << "after " << good_calls << " calls";
    has_failed = calls > good_calls;
    if (failing == executor_call::pin || !has_failed) {
      EXPECT_EQ(run.statistics.device_warning, "");
    } else {
      EXPECT_THAT(run.statistics.device_warning, HasSubstr("the device is lost; the processor does the"));
    }
  }
}

constexpr std::array device_calls = {executor_call::allocate, executor_call::pin,      executor_call::copy_in,
                                     executor_call::launch,   executor_call::copy_out, executor_call::record_event,
                                     executor_call::wait};

INSTANTIATE_TEST_SUITE_P(of_every_call, device_faults,
                         testing::Combine(testing::ValuesIn(device_calls), testing::Values(backend::hybrid),
                                          testing::Bool()));
INSTANTIATE_TEST_SUITE_P(of_every_call_alone, device_faults,
                         testing::Combine(testing::ValuesIn(device_calls), testing::Values(backend::cuda),
                                          testing::Values(false)));

}  // namespace
}  // namespace cutpoint::tests
