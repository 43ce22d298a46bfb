// Tests of the engine with devices that cut: it finds the sequential cuts. Host doubles stand for the devices.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/support/choices.h"
#include "tests/host/support/tiny_parameters.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

/// Tests tiny sizes, hostile contents and many streams, so that cuts of the device and of the processor meet often.
TEST(device, is_exact_for_any_history) {
  seeded_choices random(77);
  for (std::size_t which = 0; which < algorithm_count; ++which) {
    for (int round = 0; round < case_count(4, 12); ++round) {
      const auto cuts = value_of(chunker::make(tiny_parameters(which, random)));
      std::vector<std::vector<std::uint8_t>> streams(random.between(1, 6));
      for (auto& s : streams) {
        s = make_stream(all_contents[random.between(0, all_contents.size() - 1)], random.between(0, 6'000), random);
      }
      const feed_options options{.cuts = cuts,
                                 .fingerprint = random.once_in(2) ? fingerprint_kind::sha256 : fingerprint_kind::blake3,
                                 .segment_bytes = random.between(1, 3'000)};
      const device_run run = run_on(std::make_shared<host_device>(), options, streams);
      ASSERT_NO_FATAL_FAILURE(expect_sequential(run, options, streams)) << cuts.canonical();
    }
  }
}

TEST(device, cuts_at_the_ends_of_segments_where_a_join_asks_for_it) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(120'000, 1), mixed_stream(30'000, 2)};
  for (const join_kind join : {join_kind::pdedupe, join_kind::none}) {
    feed_options options = small_job();
    options.join = join;
    const device_run run = run_on(std::make_shared<host_device>(), options, streams);
    ASSERT_TRUE(run.outcome.ok()) << run.outcome.message();
    EXPECT_GT(run.statistics.device_bytes, 0u);
    recorder alone;
    ASSERT_TRUE(feed_streams(1, options, streams, alone).ok());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      EXPECT_EQ(run.out.streams[i].chunks, alone.streams[i].chunks);
      EXPECT_EQ(run.out.streams[i].fingerprints, alone.streams[i].fingerprints);
    }
  }
}

TEST(device, leaves_fingerprints_that_it_does_not_make_to_the_processor) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(200'000, 1)};
  const feed_options options = small_job(fingerprint_kind::md5);
  const device_run run = run_on(std::make_shared<host_device>(), options, streams);
  expect_sequential(run, options, streams);
  EXPECT_EQ(run.statistics.chunked_on, backend::cuda);
  EXPECT_NE(run.statistics.fingerprinted_on, backend::cuda);
}

TEST(device, leaves_sha_of_long_chunks_to_the_processor) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(700'000, 1)};
  for (const std::uint64_t max_bytes : {256 * KiB, 256 * KiB + 1}) {
    for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::blake3}) {
      feed_options options = small_job(kind);
      options.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = max_bytes});
      options.segment_bytes = 0;
      const device_run run = run_on(std::make_shared<host_device>(), options, streams);
      expect_sequential(run, options, streams);
      EXPECT_EQ(run.statistics.chunked_on, backend::cuda);
      EXPECT_EQ(run.statistics.fingerprinted_on == backend::cuda,
                kind == fingerprint_kind::blake3 || max_bytes == 256 * KiB);
    }
  }
}

TEST(device, is_not_asked_for_chunks_without_a_maximum) {
  feed_options options = small_job();
  options.cuts = *chunker::make(gear_parameters{.avg_bytes = 256, .min_bytes = 64, .max_bytes = 0});
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(100'000, 1)};
  const device_run run = run_on(std::make_shared<host_device>(), options, streams);
  expect_sequential(run, options, streams);
  EXPECT_THAT(run.statistics.device_warning, HasSubstr("without a maximum"));
  EXPECT_EQ(run.statistics.device_bytes, 0u);
}

TEST(device, uses_no_more_of_its_memory_than_is_allowed) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(100'000, 1)};
  feed_options options = small_job();
  for (const std::uint64_t allowed : {16 * KiB, 128 * MiB}) {
    options.device_memory_bytes = allowed;
    const device_run run = run_on(std::make_shared<host_device>(), options, streams);
    expect_sequential(run, options, streams);
    EXPECT_EQ(run.statistics.device_bytes != 0, allowed != 16 * KiB) << run.statistics.device_warning;
    EXPECT_THAT(run.statistics.device_warning,
                allowed == 16 * KiB ? testing::HasSubstr("of the device's memory, more than the 16K allowed")
                                    : testing::HasSubstr(""));
  }
}

/// Counts the offloads that it makes. While `fails` is set, their launches fail.
class counting_device final : public device_provider {
 public:
  result<std::unique_ptr<cuda::offload>> make(int device, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    ++made_count;
    return devices_.make(device, cuts, fingerprint, limits, use);
  }
  mutable std::atomic<int> made_count = 0;
  mutable std::atomic<bool> fails = false;

 private:
  host_device devices_{[this](cuda::executor_call call) {
    return fails && call == cuda::executor_call::launch ? status(status_code::backend_failure, "planted") : status();
  }};
};

TEST(device, keeps_its_memory_for_the_next_feed_with_the_same_options) {
  const auto devices = std::make_shared<counting_device>();
  engine threads = engine_factory::make({.threads = 2}, devices).value();
  int expected = 0;
  const auto expect_feed = [&](const feed_options& options, std::uint64_t seed, int newly_made) {
    const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(150'000, seed),
                                                            mixed_stream(20'000, seed + 1)};
    recorder out;
    const status outcome = feed_streams(threads, options, streams, out);
    ASSERT_NO_FATAL_FAILURE(expect_sequential(outcome, out, options, streams));
    EXPECT_EQ(devices->made_count, expected += newly_made);
  };
  feed_options options = small_job();
  options.where = backend::cuda;
  expect_feed(options, 1, 3);
  expect_feed(options, 3, 0);
  feed_options others = options;
  others.fingerprint = fingerprint_kind::blake3;
  expect_feed(others, 5, 3);
  expect_feed(options, 7, 3);
  feed_options without = options;
  without.where = backend::scalar;
  expect_feed(without, 9, 0);
  expect_feed(options, 11, 3);
  devices->fails = true;
  expect_feed(options, 13, 0);
  devices->fails = false;
  expect_feed(options, 15, 3);
}

TEST(device, that_cannot_be_opened_leaves_the_sizes_that_the_feed_has_without_it) {
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(100'000, 1)};
  feed_options options = small_job();
  options.where = backend::hybrid;
  options.memory_bytes = 4 * MiB;
  options.devices = {0, 1};
  const device_run one_left = run_on(std::make_shared<host_device>(nullptr, 1), options, streams);
  expect_sequential(one_left, options, streams);
  EXPECT_THAT(one_left.statistics.device_warning, HasSubstr("the device is lost"));
  EXPECT_EQ(one_left.statistics.plan, work_plan::shared);
  options.devices = {0};
  const device_run one = run_on(std::make_shared<host_device>(), options, streams);
  EXPECT_EQ(one_left.statistics.ring_bytes, one.statistics.ring_bytes);
  EXPECT_EQ(one_left.statistics.lanes.size(), one.statistics.lanes.size());

  const device_run none_left = run_on(std::make_shared<host_device>(nullptr, 0), options, streams);
  expect_sequential(none_left, options, streams);
  EXPECT_THAT(none_left.statistics.device_warning, HasSubstr("the device is lost"));
  options.where = widest_backend();
  const device_run alone = run_on(std::make_shared<host_device>(), options, streams);
  EXPECT_EQ(none_left.statistics.plan, work_plan::processor);
  EXPECT_EQ(none_left.statistics.ring_bytes, alone.statistics.ring_bytes);
  EXPECT_LT(alone.statistics.ring_bytes, one.statistics.ring_bytes);
}

}  // namespace
}  // namespace cutpoint::tests
