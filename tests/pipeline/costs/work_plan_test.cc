// Tests of the predicted speeds of work plans: computed by hand, and by a search through all shares for random rates.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <cutpoint/work_plan.h>
#include <gtest/gtest.h>

#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

/// A device that only its link limits.
device_rates fast_device() {
  return {.link_in = 25 * GB, .link_out = 25 * GB, .chunking = 1000 * GB, .fingerprinting = 1000 * GB};
}

job_rates processor_only(double chunking, double fingerprinting, std::uint64_t lanes) {
  return {.processor = {.lane_count = lanes, .chunking = chunking, .fingerprinting = fingerprinting}, .devices = {}};
}

plan_prediction prediction_for(const std::vector<plan_prediction>& all, work_plan which) {
  const plan_prediction* const each = prediction_of(all, which);
  EXPECT_NE(each, nullptr) << to_string(which);
  return each != nullptr ? *each : plan_prediction{};
}

std::vector<work_plan> plans(const std::vector<plan_prediction>& all) {
  std::vector<work_plan> plans;
  for (const plan_prediction& each : all) plans.push_back(each.plan);
  return plans;
}

void expect_rate(const plan_prediction& prediction, double expected) {
  EXPECT_NEAR(prediction.bytes_per_second / expected, 1, 1e-8) << to_string(prediction.plan);
}

TEST(predict_plans, has_only_the_processor_without_a_device) {
  job_rates rates = processor_only(4 * GB, 1 * GB, 2);
  rates.reading = 8 * GB;
  const auto all = predict_plans(rates);
  ASSERT_EQ(plans(all), std::vector{work_plan::processor});
  expect_rate(all[0], 2 / (1 / (4 * GB) + 1 / GB + 1 / (8 * GB)));  // reading takes a lane's time too
  ASSERT_EQ(all[0].limits.size(), 2u);
  EXPECT_EQ(all[0].limits[0].name, "processor");
  EXPECT_EQ(all[0].limits[1].name, "reading");
  EXPECT_EQ(all[0].limits[1].bytes_per_second, 8 * GB);
}

TEST(predict_plans, prefers_fewer_lanes_among_equals) {
  job_rates rates = processor_only(2 * GB, 2 * GB, 64);
  rates.reading = 4 * GB;
  rates.devices = {fast_device()};
  const auto all = predict_plans(rates);
  EXPECT_EQ(plans(all), (std::vector{work_plan::processor, work_plan::shared, work_plan::device}));
  for (const plan_prediction& each : all) {
    EXPECT_EQ(each.bytes_per_second, 4 * GB);
    EXPECT_EQ(each.limits[0].name, "reading");
  }
}

TEST(predict_plans, adds_up_the_processor_and_all_devices) {
  job_rates rates = processor_only(1 * GB, 1 * GB, 64);
  rates.devices.assign(8, fast_device());
  rates.devices[7].link_in = 5 * GB;
  const auto all = predict_plans(rates);
  EXPECT_EQ(plans(all), (std::vector{work_plan::shared, work_plan::device, work_plan::processor}));
  expect_rate(all[0], (7 * 25 + 5 + 32) * GB);
  EXPECT_NEAR(all[0].device_cut_share, 180.0 / 212, 1e-9);
  EXPECT_EQ(all[0].device_fingerprint_share, all[0].device_cut_share);
  expect_rate(all[1], (7 * 25 + 5) * GB);
  EXPECT_EQ(all[1].limits[0].name.substr(0, 14), "link of device");
}

TEST(predict_plans, takes_no_device_faster_than_its_slowest_part) {
  device_rates device = fast_device();
  EXPECT_NEAR(predict_device_rate(device, work_kind::cuts) / GB, 25, 1e-9);
  device.link_out = 5 * GB;
  device.out_share = 0.5;
  EXPECT_NEAR(predict_device_rate(device, work_kind::cuts) / GB, 10, 1e-9);
  device.chunking = 10 * GB;
  device.fingerprinting = 40 * GB;
  EXPECT_NEAR(predict_device_rate(device, work_kind::cuts) / GB, 8, 1e-9);
  EXPECT_NEAR(predict_device_rate(device, work_kind::fingerprints) / GB, 10, 1e-9);
  device = fast_device();
  device.latency_seconds = 1e-3;
  device.batch_bytes = 1'000'000;
  EXPECT_NEAR(predict_device_rate(device, work_kind::cuts), 3e6 / (1e-3 + 1e6 / (25 * GB) + 2e6 / (1000 * GB)), 1);
  EXPECT_EQ(predict_device_rate({}, work_kind::cuts), 0);
}

TEST(predict_plans, has_devices_only_fingerprint_if_they_cannot_cut) {
  job_rates rates = processor_only(2 * GB, 1 * GB, 4);
  rates.devices = {fast_device()};
  rates.devices_can_cut = false;
  auto all = predict_plans(rates);
  EXPECT_EQ(plans(all), (std::vector{work_plan::shared, work_plan::processor}));
  expect_rate(all[0], 8 * GB);  // as fast as four lanes cut
  EXPECT_EQ(all[0].device_cut_share, 0);
  EXPECT_EQ(all[0].device_fingerprint_share, 1);
  rates.devices[0].link_in = 1 * GB;
  all = predict_plans(rates);
  expect_rate(all[0], (4 + 1) / (0.5 + 1) * GB);  // lanes cut all, and fingerprint all but 1 GB/s
  EXPECT_EQ(all[0].limits[0].bytes_per_second, all[0].limits[1].bytes_per_second) << "both are busy all the time";
  rates.processor.fingerprinting = rates.devices[0].fingerprinting = 0;
  EXPECT_EQ(plans(predict_plans(rates)), std::vector{work_plan::processor}) << "nothing is left for a device";
}

TEST(predict_plans, has_devices_only_fingerprint_if_they_cut_slowly) {
  job_rates rates = processor_only(12 * GB, 0.5 * GB, 4);
  rates.devices = {fast_device()};
  rates.devices[0].chunking = 2 * GB;
  const plan_prediction shared = prediction_for(predict_plans(rates), work_plan::shared);
  expect_rate(shared, (4 + 25 / 0.5) / (1.0 / 12 + 1 / 0.5) * GB);
  EXPECT_EQ(shared.device_cut_share, 0);
  EXPECT_GT(shared.device_fingerprint_share, 0.9);
}

/// Two lanes copy 20 GB/s together, and the link carries 25 GB/s.
TEST(pays_to_pin, if_locking_takes_less_time_than_copying_adds) {
  job_rates rates = processor_only(100 * GB, 0, 2);
  rates.reading = 10 * GB;
  EXPECT_FALSE(pays_to_pin(rates, work_plan::processor));
  rates.devices = {fast_device()};
  EXPECT_FALSE(pays_to_pin(rates, work_plan::device)) << "the rate is not known";
  rates.devices[0].pinning = 99 * GB;
  EXPECT_FALSE(pays_to_pin(rates, work_plan::device));
  rates.devices[0].pinning = 101 * GB;
  EXPECT_TRUE(pays_to_pin(rates, work_plan::device));
  rates.processor.lane_count = 3;
  EXPECT_FALSE(pays_to_pin(rates, work_plan::device)) << "the link binds either way";
  rates.processor.memory = 30 * GB;
  EXPECT_TRUE(pays_to_pin(rates, work_plan::device)) << "each byte that is copied passes memory three times";
}

TEST(predict_plans, counts_how_often_bytes_pass_memory) {
  job_rates rates = processor_only(100 * GB, 100 * GB, 4);
  rates.processor.memory = 12 * GB;
  rates.devices = {fast_device()};
  expect_rate(prediction_for(predict_plans(rates), work_plan::processor), 4 * GB);
  expect_rate(prediction_for(predict_plans(rates), work_plan::device), 4 * GB);
  rates.processor.fingerprinting = 0.01 * GB;
  rates.devices_can_cut = false;
  const plan_prediction shared = prediction_for(predict_plans(rates), work_plan::shared);
  EXPECT_EQ(shared.limits[0].name, "memory");
  EXPECT_NEAR(shared.bytes_per_second / GB, 12 / (3 + shared.device_fingerprint_share), 1e-8);
}

TEST(predict_plans, treats_rates_that_are_not_positive_numbers_as_unknown) {
  job_rates rates = processor_only(1 * GB, 0, 1);
  rates.reading = std::nan("");
  rates.joining = -1;
  rates.delivery = std::numeric_limits<double>::infinity();
  rates.devices = {{}};
  for (const plan_prediction& each : predict_plans(rates)) {
    if (each.plan != work_plan::device) expect_rate(each, 1 * GB);
  }
  EXPECT_EQ(predict_plans({})[0].bytes_per_second, 0);
  EXPECT_TRUE(predict_plans({})[0].limits.empty());
}

/// The speed if the device does its work for this share of the bytes.
double rate_at(const job_rates& rates, work_kind device_work, double share) {
  const processor_rates& p = rates.processor;
  const device_rates& d = rates.devices[0];
  const bool cuts = device_work == work_kind::cuts;
  const double lane_seconds =
      (cuts ? 1 - share : 1) / p.chunking + (1 - share) / p.fingerprinting + 1 / rates.reading + 1 / rates.delivery;
  const double kernels = (cuts ? 1 / d.chunking : 0) + 1 / d.fingerprinting;
  return 1 / std::max({lane_seconds / static_cast<double>(p.lane_count), share * kernels, share / d.link_in,
                       1 / rates.reading, 1 / rates.delivery});
}

TEST(predict_plans, finds_the_best_share) {
  constexpr int steps = 2000;
  std::mt19937_64 random(7);
  const auto draw = [&](double least, double most) {
    return least * std::pow(most / least, std::uniform_real_distribution<double>(0, 1)(random)) * GB;
  };
  int fingerprint_only = 0;
  for (int round = 0; round < 200; ++round) {
    job_rates rates = processor_only(draw(0.1, 20), draw(0.1, 20), 1 + random() % 16);
    rates.reading = draw(2, 100);
    rates.delivery = draw(50, 1000);
    rates.devices = {{.link_in = draw(1, 60), .chunking = draw(0.5, 500), .fingerprinting = draw(0.5, 500)}};
    double best = 0;
    for (const work_kind kind : {work_kind::cuts, work_kind::fingerprints}) {
      for (int i = 0; i <= steps; ++i) best = std::max(best, rate_at(rates, kind, static_cast<double>(i) / steps));
    }
    const plan_prediction shared = prediction_for(predict_plans(rates), work_plan::shared);
    ASSERT_LE(best, shared.bytes_per_second * (1 + 1e-8)) << "round " << round;
    ASSERT_GE(best, shared.bytes_per_second * 0.97) << "round " << round;
    if (shared.device_cut_share < shared.device_fingerprint_share) ++fingerprint_only;
  }
  EXPECT_GT(fingerprint_only, 20);
  EXPECT_LT(fingerprint_only, 180);
}

}  // namespace
}  // namespace cutpoint::tests
