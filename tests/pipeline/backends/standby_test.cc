// Tests of the engine with standby devices, which are opened while a feed works because the processor is slower than expected.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

/// Returns a job for the processor alone, if that were as fast as its rates say.
feed_options job_with_standby(double device_cuts = 100 * GB) {
  feed_options options = small_job();
  options.memory_bytes = 32 * MiB;
  job_rates rates;
  rates.processor = {.chunking = 1e15, .fingerprinting = 1e15};
  rates.devices = {{.device = 0, .link_in = 50 * GB, .chunking = device_cuts, .fingerprinting = 100 * GB}};
  options.rates = std::make_shared<const job_rates>(rates);
  return options;
}

struct fed_job {
  std::vector<std::vector<std::uint8_t>> streams = {};
  recorder out = {};
  feed_statistics statistics = {};
};

/// Feeds one stream after the other until the statistics are as wanted, and then four more.
template <class Wanted>
void feed_until(fed_job& job, std::shared_ptr<const device_provider> devices, const feed_options& options,
                const Wanted& is_wanted, const engine_options& of_engine = {.threads = 2}) {
  constexpr std::size_t most_streams = 20'000;
  auto threads = value_of(engine_factory::make(of_engine, std::move(devices)));
  auto feed = value_of(threads.open(options, job.out));
  EXPECT_EQ(feed.statistics().plan, work_plan::processor);
  EXPECT_EQ(feed.statistics().lanes.size(), of_engine.threads);
  for (std::size_t left = 4; left != 0 && job.streams.size() < most_streams;) {
    job.streams.push_back(mixed_stream(100'000, job.streams.size() % 50));
    ASSERT_TRUE(feed.begin(job.streams.size() - 1).ok());
    ASSERT_TRUE(feed.write(job.streams.back()).ok());
    ASSERT_TRUE(feed.end().ok());
    if (left < 4 || is_wanted(feed.statistics())) --left;
  }
  const status outcome = feed.finish();
  job.statistics = feed.statistics();
  expect_sequential(outcome, job.out, options, job.streams);
}

TEST(standby, works_once_the_processor_is_slower_than_expected) {
  for (const std::uint64_t threads : {1u, 2u}) {
    std::atomic<int> calls = 0;
    fed_job job;
    feed_until(job, std::make_shared<host_device>([&](cuda::executor_call) { return ++calls, status(); }),
               job_with_standby(), [](const feed_statistics& now) { return now.plan == work_plan::shared; },
               {.threads = threads});
    EXPECT_EQ(job.statistics.plan, work_plan::shared);
    EXPECT_EQ(job.statistics.device_warning, "");
    EXPECT_EQ(job.statistics.lanes.size(), threads + 3);
    EXPECT_GT(calls, 0);
  }
}

TEST(standby, only_fingerprints_if_that_is_faster) {
  fed_job job;
  feed_until(job, std::make_shared<host_device>(), job_with_standby(1),
             [](const feed_statistics& now) { return now.plan == work_plan::shared; });
  EXPECT_EQ(job.statistics.device_bytes, 0u);
  EXPECT_EQ(job.statistics.fingerprinted_on, backend::hybrid);
}

TEST(standby, leaves_the_work_to_the_processor_if_it_cannot_be_opened) {
  fed_job job;
  const auto has_warning = [](const feed_statistics& now) { return !now.device_warning.empty(); };
  feed_until(job, std::make_shared<host_device>(nullptr, 0), job_with_standby(), has_warning);
  EXPECT_EQ(job.statistics.plan, work_plan::processor);
  EXPECT_THAT(job.statistics.device_warning, HasSubstr("the device is lost"));
  EXPECT_EQ(job.statistics.lanes.size(), 2u);
}

TEST(standby, stays_closed_without_memory_of_the_engine_on_the_device) {
  fed_job job;
  const auto has_warning = [](const feed_statistics& now) { return !now.device_warning.empty(); };
  feed_until(job, std::make_shared<host_device>(), job_with_standby(), has_warning,
             {.threads = 2, .device_memory_bytes = 1000});
  EXPECT_EQ(job.statistics.plan, work_plan::processor);
}

TEST(standby, may_be_opened_while_its_feed_is_dropped) {
  const auto stream = mixed_stream(100'000, 1);
  auto threads = value_of(engine_factory::make({.threads = 2}, std::make_shared<host_device>()));
  for (int fed = 1; fed <= 10; ++fed) {
    recorder out;
    auto feed = value_of(threads.open(job_with_standby(), out));
    ASSERT_TRUE(feed.begin(0).ok());
    for (int i = 0; i < fed; ++i) ASSERT_TRUE(feed.write(stream).ok());
  }
}

}  // namespace
}  // namespace cutpoint::tests
