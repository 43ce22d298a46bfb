// Tests of the predicted speeds of work plans: computed by hand for typical jobs, and by a search for random ones.
#include <algorithm>
#include <cmath>
#include <random>

#include <cutpoint/work_plan.h>
#include <gtest/gtest.h>

#include "pipeline/dispatch/linear_program.h"
#include "tests/pipeline/support/gpus.h"

namespace cutpoint::tests {
namespace {

/// A device that only its link limits.
device_rates fast_device() {
  return {.link_in = 25 * GB, .link_out = 25 * GB, .chunking = 1000 * GB, .fingerprinting = 1000 * GB};
}

job_rates processor_only(double chunking, double fingerprinting, std::uint64_t lanes) {
  return {.processor = {.lane_count = lanes, .chunking = chunking, .fingerprinting = fingerprinting}, .devices = {}};
}

plan_prediction of(const std::vector<plan_prediction>& all, work_plan which) {
  const plan_prediction* const found = prediction_of(all, which);
  EXPECT_NE(found, nullptr) << to_string(which);
  return found != nullptr ? *found : plan_prediction{};
}

std::vector<work_plan> plans(const std::vector<plan_prediction>& all) {
  std::vector<work_plan> made;
  for (const plan_prediction& each : all) made.push_back(each.plan);
  return made;
}

double limit(const plan_prediction& prediction, std::string_view name) {
  const auto found = std::find_if(prediction.limits.begin(), prediction.limits.end(),
                                  [name](const rate_limit& l) { return l.name == name; });
  EXPECT_NE(found, prediction.limits.end()) << name;
  return found != prediction.limits.end() ? found->bytes_per_second : 0;
}

void expect_rate(const plan_prediction& prediction, double expected) {
  EXPECT_NEAR(prediction.bytes_per_second / expected, 1, 1e-8) << to_string(prediction.plan);
}

TEST(predict_plans, has_the_processor_alone_without_a_device) {
  const auto all = predict_plans(processor_only(4 * GB, 1 * GB, 2));
  ASSERT_EQ(plans(all), std::vector{work_plan::processor});
  expect_rate(all[0], 2 / (1 / (4 * GB) + 1 / GB));
  EXPECT_EQ(all[0].device_cut_share, 0);
  EXPECT_EQ(all[0].device_fingerprint_share, 0);
  ASSERT_EQ(all[0].limits.size(), 1u);
  EXPECT_EQ(all[0].limits[0].name, "processor");
  EXPECT_EQ(all[0].limits[0].bytes_per_second, all[0].bytes_per_second);
}

TEST(predict_plans, counts_what_lanes_do_one_at_a_time_as_their_work_too) {
  job_rates rates = processor_only(2 * GB, 2 * GB, 1);
  rates.reading = 4 * GB;
  rates.joining = 8 * GB;
  rates.delivery = 8 * GB;
  const auto all = predict_plans(rates);
  expect_rate(all[0], 1 / (1 / (2 * GB) + 1 / (2 * GB) + 1 / (4 * GB) + 2 / (8 * GB)));
  EXPECT_EQ(all[0].limits[0].name, "processor");
  EXPECT_EQ(limit(all[0], "reading"), 4 * GB);
  EXPECT_EQ(limit(all[0], "delivery"), 8 * GB);
}

TEST(predict_plans, is_no_faster_than_reading_however_many_lanes_there_are) {
  job_rates rates = processor_only(2 * GB, 2 * GB, 64);
  rates.reading = 4 * GB;
  rates.devices = {fast_device()};
  const auto all = predict_plans(rates);
  ASSERT_EQ(all.size(), 4u);
  for (const plan_prediction& each : all) {
    EXPECT_EQ(each.bytes_per_second, 4 * GB);
    EXPECT_EQ(each.limits[0].name, "reading");
  }
  EXPECT_EQ(plans(all), (std::vector{work_plan::processor, work_plan::device, work_plan::fingerprints_on_device,
                                     work_plan::shared}));
  EXPECT_EQ(all[3].device_cut_share, 0) << "of equal mixes, the one without a device";
}

TEST(predict_plans, leaves_cuts_to_the_processor_that_makes_them_faster_than_a_link_carries_bytes) {
  job_rates rates = processor_only(12 * GB, 0, 4);
  rates.devices = {fast_device()};
  rates.devices[0].fingerprinting = 0;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::processor), 48 * GB);
  expect_rate(of(all, work_plan::device), 25 * GB);
  EXPECT_EQ(of(all, work_plan::device).limits[0].name, "link of device 0");
  expect_rate(of(all, work_plan::shared), 73 * GB);
  EXPECT_EQ(of(all, work_plan::device).device_fingerprint_share, 0) << "there are none";
}

TEST(predict_plans, has_the_device_fingerprint_what_the_processor_cuts_faster) {
  job_rates rates = processor_only(12 * GB, 0.5 * GB, 4);
  rates.devices = {fast_device()};
  rates.devices[0].chunking = 30 * GB;
  rates.devices[0].fingerprinting = 40 * GB;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::processor), 4 / (1 / (12 * GB) + 2 / GB));
  expect_rate(of(all, work_plan::device), 1 / (1 / (30 * GB) + 1 / (40 * GB)));
  EXPECT_EQ(of(all, work_plan::device).limits[0].name, "device 0");
  expect_rate(of(all, work_plan::fingerprints_on_device), 25 * GB);
  EXPECT_EQ(of(all, work_plan::fingerprints_on_device).device_fingerprint_share, 1);
  EXPECT_EQ(of(all, work_plan::fingerprints_on_device).device_cut_share, 0);
  EXPECT_GT(all[0].bytes_per_second, 25 * GB);
  EXPECT_EQ(all[0].plan, work_plan::shared);
}

TEST(predict_plans, gives_the_device_all_where_the_processor_is_slow_at_both) {  // Rabin, without SHA extensions
  job_rates rates = processor_only(1.2 * GB, 0.44 * GB, 1);
  rates.reading = 20 * GB;
  rates.devices = {fast_device()};
  rates.devices[0].link_in = 20 * GB;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::processor), 1 / (1 / (1.2 * GB) + 1 / (0.44 * GB) + 1 / (20 * GB)));
  expect_rate(of(all, work_plan::device), 20 * GB);
  expect_rate(of(all, work_plan::fingerprints_on_device), 1 / (1 / (1.2 * GB) + 1 / (20 * GB)));
  EXPECT_EQ(all[0].plan, work_plan::device);
}

TEST(predict_plans, leaves_huge_chunks_to_the_processor) {  // there are too few at a time for a device's threads
  job_rates rates = processor_only(3 * GB, 3 * GB, 8);
  rates.devices = {fast_device()};
  rates.devices[0].fingerprinting = 0.8 * GB;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::processor), 12 * GB);
  EXPECT_NEAR(of(all, work_plan::device).bytes_per_second, 0.8 * GB, 0.01 * GB);
  expect_rate(of(all, work_plan::fingerprints_on_device), 0.8 * GB);
  const plan_prediction shared = of(all, work_plan::shared);
  expect_rate(shared, 12 * GB + 1 / (1 / (1000 * GB) + 1 / (0.8 * GB)));
  EXPECT_LT(shared.device_cut_share, 0.07);
}

TEST(predict_plans, has_a_link_out_where_much_is_copied_back) {
  job_rates rates = processor_only(1 * GB, 1 * GB, 1);
  rates.devices = {fast_device()};
  rates.devices[0].link_out = 5 * GB;
  rates.devices[0].out_share = 0.5;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::device), 10 * GB);
  EXPECT_EQ(of(all, work_plan::device).limits[0].name, "link of device 0");
}

TEST(predict_plans, counts_the_latency_of_batches_against_the_lanes_that_hide_it) {
  job_rates rates = processor_only(1 * GB, 1 * GB, 1);
  rates.devices = {fast_device()};
  device_rates& device = rates.devices[0];
  device.latency_seconds = 1e-3;
  device.batch_bytes = 1'000'000;  // copying takes 40 µs, cutting and fingerprinting 2 µs
  device.lane_count = 3;
  const double batch_seconds = 1e-3 + 1e6 / (25 * GB) + 2e6 / (1000 * GB);
  expect_rate(of(predict_plans(rates), work_plan::device), 3e6 / batch_seconds);
  EXPECT_EQ(of(predict_plans(rates), work_plan::device).limits[0].name, "device 0");
  device.batch_bytes = 100'000'000;
  expect_rate(of(predict_plans(rates), work_plan::device), 25 * GB);
}

TEST(predict_plans, counts_how_often_bytes_pass_memory) {
  job_rates rates = processor_only(100 * GB, 100 * GB, 4);
  rates.processor.memory = 12 * GB;
  rates.devices = {fast_device()};
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::processor), 4 * GB);               // copied in, and read by a lane
  expect_rate(of(all, work_plan::device), 4 * GB);                  // copied in, and read by the link
  expect_rate(of(all, work_plan::fingerprints_on_device), 3 * GB);  // copied in, and read by both
  EXPECT_EQ(of(all, work_plan::fingerprints_on_device).limits[0].name, "memory");
}

TEST(predict_plans, adds_up_devices) {
  job_rates rates = processor_only(1 * GB, 1 * GB, 64);
  rates.devices.assign(8, fast_device());
  rates.devices[7].link_in = 5 * GB;
  const auto all = predict_plans(rates);
  expect_rate(of(all, work_plan::device), (7 * 25 + 5) * GB);
  expect_rate(of(all, work_plan::fingerprints_on_device), 64 * GB);  // limited by the processor's cutting
  expect_rate(of(all, work_plan::shared), (7 * 25 + 5 + 32) * GB);
  EXPECT_NEAR(of(all, work_plan::shared).device_cut_share, 180.0 / 212, 1e-9);
  EXPECT_EQ(limit(of(all, work_plan::device), "link of device 7"), 180 * GB);
}

TEST(predict_plans, has_no_plan_for_lanes_that_are_not_there) {
  job_rates rates = processor_only(1 * GB, 1 * GB, 0);
  EXPECT_TRUE(predict_plans(rates).empty());
  rates.devices = {fast_device()};
  EXPECT_EQ(plans(predict_plans(rates)), std::vector{work_plan::device});
  rates.processor.lane_count = 1;
  rates.devices[0].lane_count = 0;
  EXPECT_EQ(plans(predict_plans(rates)), std::vector{work_plan::processor});
}

TEST(predict_plans, fingerprints_nowhere_where_there_are_none) {
  job_rates rates = processor_only(1 * GB, 0, 1);
  rates.devices = {fast_device()};
  rates.devices[0].fingerprinting = 0;
  const auto all = predict_plans(rates);
  EXPECT_EQ(plans(all), (std::vector{work_plan::shared, work_plan::device, work_plan::processor}));
  EXPECT_EQ(all[0].device_fingerprint_share, 0);
  EXPECT_GT(all[0].device_cut_share, 0.9);
}

TEST(predict_plans, knows_no_rate_where_nothing_bounds_it) {
  const auto all = predict_plans({});
  ASSERT_EQ(plans(all), std::vector{work_plan::processor});
  EXPECT_EQ(all[0].bytes_per_second, 0);
  EXPECT_TRUE(all[0].limits.empty());
}

TEST(predict_plans, takes_numbers_that_are_none_for_unknown) {
  job_rates rates = processor_only(1 * GB, 0, 1);
  rates.reading = std::nan("");
  rates.joining = -1;
  rates.delivery = std::numeric_limits<double>::infinity();
  const auto all = predict_plans(rates);
  ASSERT_EQ(all.size(), 1u);
  expect_rate(all[0], 1 * GB);
}

/// Returns the speed of a mix with these proportions, by the formulas of the model.
double rate_of_mix(const job_rates& r, double a, double b, double h) {
  const processor_rates& p = r.processor;
  const device_rates& d = r.devices[0];
  const double common = 1 / r.reading + 1 / r.joining + 1 / r.delivery;
  const double at_once = static_cast<double>(d.lane_count);
  const double batch =
      d.latency_seconds / static_cast<double>(d.batch_bytes) + 1 / d.link_in + d.out_share / d.link_out;
  const double used[] = {
      (a * (1 / p.chunking + 1 / p.fingerprinting) + h / p.chunking + common) / static_cast<double>(p.lane_count),
      b * (1 / d.chunking + 1 / d.fingerprinting) + h / d.fingerprinting,
      (b * (batch + 1 / d.chunking + 1 / d.fingerprinting) + h * (batch + 1 / d.fingerprinting)) / at_once,
      (b + h) / d.link_in,
      (b + h) * d.out_share / d.link_out,
      (3 * a + 3 * b + 4 * h) / p.memory,
      1 / r.reading,
      1 / r.joining,
      1 / r.delivery};
  return 1 / *std::max_element(std::begin(used), std::end(used));
}

TEST(predict_plans, finds_what_a_search_through_all_mixes_finds) {
  constexpr int steps = 120;
  std::mt19937_64 random(7);
  const auto drawn = [&](double least, double most) {
    return least * std::pow(most / least, std::uniform_real_distribution<double>(0, 1)(random));
  };
  int real_mixes = 0;
  for (int round = 0; round < 200; ++round) {
    job_rates rates = processor_only(drawn(0.1, 20) * GB, drawn(0.1, 20) * GB, 1 + random() % 16);
    rates.processor.memory = drawn(10, 400) * GB;
    rates.reading = drawn(2, 100) * GB;
    rates.joining = drawn(50, 1000) * GB;
    rates.delivery = drawn(50, 1000) * GB;
    rates.devices = {{.link_in = drawn(1, 60) * GB,
                      .link_out = drawn(1, 60) * GB,
                      .latency_seconds = drawn(1e-5, 1e-2),
                      .chunking = drawn(0.5, 500) * GB,
                      .fingerprinting = drawn(0.5, 500) * GB,
                      .out_share = drawn(0.001, 2),
                      .lane_count = 1 + random() % 4,
                      .batch_bytes = 1'000'000 + random() % 100'000'000}};
    double best = 0;
    for (int i = 0; i <= steps; ++i) {
      for (int k = 0; i + k <= steps; ++k) {
        const double a = static_cast<double>(i) / steps;
        const double b = static_cast<double>(k) / steps;
        best = std::max(best, rate_of_mix(rates, a, b, 1 - a - b));
      }
    }
    const auto all = predict_plans(rates);
    const plan_prediction shared = of(all, work_plan::shared);
    ASSERT_LE(best, shared.bytes_per_second * (1 + 1e-8)) << "round " << round;
    ASSERT_GE(best, shared.bytes_per_second * (1 - 3.0 / steps)) << "round " << round;
    const double cut = shared.device_cut_share;
    const double split = shared.device_fingerprint_share - cut;
    EXPECT_NEAR(rate_of_mix(rates, 1 - cut - split, cut, split) / shared.bytes_per_second, 1, 1e-6);
    expect_rate(of(all, work_plan::processor), rate_of_mix(rates, 1, 0, 0));
    expect_rate(of(all, work_plan::device), rate_of_mix(rates, 0, 1, 0));
    expect_rate(of(all, work_plan::fingerprints_on_device), rate_of_mix(rates, 0, 0, 1));
    for (const plan_prediction& each : all) {
      EXPECT_NEAR(each.limits[0].bytes_per_second / each.bytes_per_second, 1, 1e-8);
      EXPECT_TRUE(std::is_sorted(each.limits.begin(), each.limits.end(),
                                 [](const auto& x, const auto& y) { return x.bytes_per_second < y.bytes_per_second; }));
    }
    if (cut > 0.01 && split > 0.01 && cut + split < 0.99) ++real_mixes;
  }
  EXPECT_GT(real_mixes, 5) << "the rates that are drawn show nothing of mixes of all three";
}

TEST(solve_linear_program, fills_what_there_is) {
  const auto found = solve_linear_program({{0.5, 0}, {0, 0.25}, {1, 1}}, {1, 1});
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[0] + (*found)[1], 1, 1e-12);
  EXPECT_EQ(solve_linear_program({{1, 0}}, {1, 1}), std::nullopt) << "of the second there could be any amount";
  EXPECT_EQ(solve_linear_program({}, {1}), std::nullopt);
  EXPECT_EQ(solve_linear_program({{2}}, {1}), std::vector{0.5});
}

}  // namespace
}  // namespace cutpoint::tests
