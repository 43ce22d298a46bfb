// How many bytes lanes take, and when they leave work to faster ones.
#include "pipeline/schedule/load_balance.h"

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

constexpr double megabytes = 1e6;
constexpr std::uint64_t lane_limit = 1 * GiB;
constexpr lane_owner processor_lane = {};

/// Four cores of 10 MB/s each beside one device of 60 MB/s with three lanes; no fingerprints.
feed_configuration cores_and_device() {
  job_rates rates;
  rates.processor = {.lane_count = 4, .chunking = 10 * megabytes};
  rates.devices = {{.chunking = 60 * megabytes}};
  return {.plan = work_plan::shared,
          .predictions = {},
          .rates = std::make_shared<const job_rates>(rates),
          .lane_count = 4,
          .devices = {{.batch_bytes = 1 * MiB, .least_batch_bytes = 100'000}}};
}

/// The balance of a feed that is alone on its engine.
class lone_balance : device_loads, public load_balance {
 public:
  explicit lone_balance(const feed_configuration& configuration)
      : load_balance(configuration, static_cast<device_loads&>(*this)) {}
};

std::array<stage_work, stage_count> cut_work(std::uint64_t bytes, double seconds) {
  std::array<stage_work, stage_count> work = {};
  work[static_cast<std::size_t>(stage::chunking)] = {seconds, bytes};
  return work;
}

std::uint64_t bytes_taken(const load_balance& balance, lane_owner owner, work_kind which = work_kind::cuts) {
  return balance.bytes_to_take(owner, which, 90'000, lane_limit);
}

TEST(load_balance, gives_each_lane_its_share_of_the_rates) {
  const lone_balance balance(cores_and_device());
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, processor_lane)), 90'000 * 0.1, 1);
  // A lane has a third of the device, and takes two thirds of that beside others.
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, 0)), 90'000 * 0.6 / 3 * 2 / 3, 1);
  EXPECT_EQ(balance.bytes_to_take(processor_lane, work_kind::cuts, 90'000, 500), 500u) << "no more than the lane may";
}

TEST(load_balance, gives_as_much_as_a_lane_may_take_while_rates_are_unknown) {
  feed_configuration configuration = cores_and_device();
  configuration.rates = nullptr;
  lone_balance balance(configuration);
  EXPECT_EQ(bytes_taken(balance, processor_lane), lane_limit);
  EXPECT_EQ(bytes_taken(balance, 0), lane_limit);
  EXPECT_FALSE(balance.should_leave_to_faster_lane(processor_lane, work_kind::cuts, 1, 2, 3));
  balance.record_processor_work(cut_work(1000, 1));
  EXPECT_EQ(bytes_taken(balance, processor_lane), lane_limit) << "the device's rate is still unknown";
  balance.record_device_start(0, 100'000, 0);
  balance.record_device_work(0, 100'000, 100);
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, processor_lane)), 90'000 / 5, 1) << "1 of 4 + 1 KB/s";
}

TEST(load_balance, finds_the_rates_of_a_device_by_its_number) {
  feed_configuration configuration = cores_and_device();
  job_rates rates = *configuration.rates;
  rates.devices.insert(rates.devices.begin(), {.device = 1, .chunking = 1e-3 * megabytes});
  configuration.rates = std::make_shared<const job_rates>(rates);
  EXPECT_EQ(bytes_taken(lone_balance(configuration), 0), bytes_taken(lone_balance(cores_and_device()), 0));
}

TEST(load_balance, prefers_measured_rates_and_the_latest_most) {
  lone_balance balance(cores_and_device());
  balance.record_processor_work(cut_work(20'000'000, 1));
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, processor_lane)), 90'000 * 20.0 / 140, 1);
  for (int i = 0; i < 50; ++i) balance.record_processor_work(cut_work(5'000'000, 1));
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, processor_lane)), 90'000 * 5.0 / 80, 2);
}

TEST(load_balance, learns_from_a_small_batch_only_that_a_device_is_slow) {
  lone_balance balance(cores_and_device());
  const std::uint64_t expected = bytes_taken(balance, 0);
  balance.record_device_start(0, 600, 0);
  balance.record_device_work(0, 600, 1e-6);  // ten times as fast as expected
  EXPECT_EQ(bytes_taken(balance, 0), expected);
  balance.record_device_start(0, 600, 1);
  balance.record_device_work(0, 600, 2);
  EXPECT_LT(bytes_taken(balance, 0), expected / 100);
}

TEST(load_balance, learns_from_small_batches_that_a_slow_device_is_as_fast_as_expected_again) {
  lone_balance balance(cores_and_device());
  const auto expected = static_cast<double>(bytes_taken(balance, 0));
  balance.record_device_start(0, 600, 0);
  balance.record_device_work(0, 600, 1);
  for (int i = 0; i < 100; ++i) {
    balance.record_device_start(0, 600, 2);
    balance.record_device_work(0, 600, 2 + 1e-6);  // ten times as fast as expected, which does not count
  }
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, 0)), expected, 0.01 * expected);
}

TEST(load_balance, divides_the_time_of_a_device_among_its_batches) {
  lone_balance balance(cores_and_device());
  for (int i = 0; i < 3; ++i) balance.record_device_start(0, 200'000, 0);
  for (int i = 1; i <= 3; ++i) balance.record_device_work(0, 200'000, i);  // 0.2 MB/s, not 0.1
  const double share = 0.2 / 40.2 / 3 * 2 / 3;
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, 0)), 90'000 * share, 1);
}

TEST(load_balance, counts_the_batches_of_all_feeds_of_a_device) {
  device_loads loads;
  load_balance first(cores_and_device(), loads);
  load_balance second(cores_and_device(), loads);
  for (int i = 0; i < 3; ++i) {
    first.record_device_start(0, 200'000, 0);
    second.record_device_start(0, 200'000, 0);
  }
  EXPECT_TRUE(first.is_busy(0));
  EXPECT_TRUE(second.is_busy(0)) << "six batches for three lanes";
  for (int i = 1; i <= 3; ++i) {
    first.record_device_work(0, 200'000, 2 * i - 1);
    second.record_device_work(0, 200'000, 2 * i);
  }
  EXPECT_FALSE(first.is_busy(0));
  const double share = 0.2 / 40.2 / 3 * 2 / 3;  // 0.2 MB/s, of which each feed has half
  EXPECT_NEAR(static_cast<double>(bytes_taken(first, 0)), 90'000 * share, 1);
  EXPECT_EQ(bytes_taken(second, 0), bytes_taken(first, 0));
}

TEST(load_balance, gives_a_device_no_fewer_batches_because_one_was_slow) {
  feed_configuration configuration = cores_and_device();
  job_rates rates = *configuration.rates;
  rates.devices[0].latency_seconds = 0.01;  // in which it is expected to take 0.6 MB
  configuration.rates = std::make_shared<const job_rates>(rates);
  lone_balance balance(configuration);
  balance.record_device_start(0, 10'000, 0);
  balance.record_device_work(0, 10'000, 1);
  for (int i = 0; i < 11; ++i) balance.record_device_start(0, 100'000, 1);
  EXPECT_FALSE(balance.is_busy(0));
  balance.record_device_start(0, 100'000, 1);
  EXPECT_TRUE(balance.is_busy(0));
}

TEST(load_balance, forgets_what_was_measured_of_a_device_with_the_last_feed) {
  device_loads loads;
  {
    load_balance slow(cores_and_device(), loads);
    slow.record_device_start(0, 200'000, 0);
    slow.record_device_work(0, 200'000, 1);
  }
  EXPECT_EQ(bytes_taken(load_balance(cores_and_device(), loads), 0), bytes_taken(lone_balance(cores_and_device()), 0));
}

TEST(load_balance, asks_for_standby_devices_when_the_processor_is_so_slow_that_devices_pay) {
  feed_configuration configuration = cores_and_device();
  job_rates rates = *configuration.rates;
  rates.devices[0].chunking = 3 * megabytes;  // beside 40: less than a tenth more
  configuration.rates = std::make_shared<const job_rates>(rates);
  configuration.standby = std::exchange(configuration.devices, {});
  const auto asks_after = [&](double rate, int tasks) {
    lone_balance balance(configuration);
    EXPECT_EQ(balance.plan(), work_plan::processor);
    for (int i = 0; i < tasks; ++i) balance.record_processor_work(cut_work(1'000'000, 1 / rate));
    return balance.work_for_standby();
  };
  EXPECT_EQ(asks_after(10, 16), std::nullopt) << "as fast as expected";
  EXPECT_EQ(asks_after(7, 16), std::nullopt) << "measurements vary so much";
  EXPECT_EQ(asks_after(5, 15), std::nullopt) << "too little was measured";
  EXPECT_EQ(asks_after(5, 16), work_kind::cuts);
  rates.devices[0].chunking = 0.1 * megabytes;
  configuration.rates = std::make_shared<const job_rates>(rates);
  EXPECT_EQ(asks_after(5, 16), std::nullopt) << "they still do not pay";
}

TEST(load_balance, shares_with_standby_devices_once_they_are_there) {
  feed_configuration configuration = cores_and_device();
  configuration.standby = std::exchange(configuration.devices, {});
  lone_balance balance(configuration);
  EXPECT_FALSE(balance.has_devices());
  EXPECT_EQ(bytes_taken(balance, processor_lane), 90'000u / 4);
  balance.use_standby(configuration.standby);
  EXPECT_EQ(balance.plan(), work_plan::shared);
  EXPECT_EQ(bytes_taken(balance, processor_lane), bytes_taken(lone_balance(cores_and_device()), processor_lane));
  EXPECT_EQ(bytes_taken(balance, 0), bytes_taken(lone_balance(cores_and_device()), 0));
}

TEST(load_balance, leaves_the_end_to_the_fastest_lane) {
  const lone_balance balance(cores_and_device());
  const auto leaves = [&](lane_owner owner, std::uint64_t share, std::uint64_t waiting) {
    return balance.should_leave_to_faster_lane(owner, work_kind::cuts, share, 1000, waiting);
  };
  EXPECT_TRUE(leaves(processor_lane, 999, 1'000'000)) << "less than the lane takes at least";
  EXPECT_FALSE(leaves(processor_lane, 1000, 6001));
  EXPECT_TRUE(leaves(processor_lane, 1000, 5999)) << "the device is done with all of it first";
  EXPECT_FALSE(leaves(0, 1, 1)) << "the device is the fastest";
}

TEST(load_balance, counts_the_present_work_of_the_fastest_lane) {
  lone_balance balance(cores_and_device());
  balance.record_device_start(0, 100'000, 0);
  EXPECT_FALSE(balance.should_leave_to_faster_lane(processor_lane, work_kind::cuts, 1000, 1000, 100));
}

TEST(load_balance, gives_all_work_to_the_processor_after_the_last_device) {
  feed_configuration configuration = cores_and_device();
  configuration.plan = work_plan::device;
  lone_balance balance(configuration);
  EXPECT_FALSE(balance.may_take(processor_lane, work_kind::cuts));
  EXPECT_TRUE(balance.may_take(0, work_kind::cuts));
  balance.remove_device(0);
  EXPECT_TRUE(balance.may_take(processor_lane, work_kind::cuts));
  EXPECT_FALSE(balance.may_take(0, work_kind::cuts));
  EXPECT_EQ(balance.plan(), work_plan::processor);
  EXPECT_EQ(bytes_taken(balance, processor_lane), 90'000u / 4);
}

TEST(load_balance, defers_fingerprints_to_devices_that_only_fingerprint) {
  feed_configuration configuration = cores_and_device();
  job_rates rates = *configuration.rates;
  rates.processor.fingerprinting = 10 * megabytes;
  rates.devices[0].fingerprinting = 20 * megabytes;
  configuration.fingerprint = fingerprint_kind::sha1;
  configuration.rates = std::make_shared<const job_rates>(rates);
  configuration.devices[0].work = work_kind::fingerprints;
  lone_balance balance(configuration);
  EXPECT_TRUE(balance.defers_fingerprints());
  EXPECT_FALSE(balance.may_take(0, work_kind::cuts));
  EXPECT_EQ(bytes_taken(balance, processor_lane), 90'000u / 4) << "cores cut alone";
  EXPECT_NEAR(static_cast<double>(bytes_taken(balance, 0, work_kind::fingerprints)), 90'000 * (20.0 / 60) / 3 * 2 / 3,
              1);
  balance.remove_device(0);
  EXPECT_FALSE(balance.defers_fingerprints());
  configuration.devices[0].fingerprints = false;
  EXPECT_FALSE(lone_balance(configuration).defers_fingerprints()) << "the device does not make these";
}

}  // namespace
}  // namespace cutpoint::tests
