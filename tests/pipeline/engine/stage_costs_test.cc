// Tests of the sums over lanes and feeds, and of devices that are looked at before a feed is opened.
#include <cutpoint/stage_costs.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/pipeline/support/host_device.h"

namespace cutpoint::tests {
namespace {

lane_record lane_of(int device, double seconds, std::uint64_t bytes) {
  lane_record lane{.device = device};
  lane.work[static_cast<std::size_t>(stage::chunking)] = {.seconds = seconds, .bytes = bytes};
  return lane;
}

TEST(stage_costs, of_two_feeds_are_those_of_their_lanes) {
  feed_statistics sum, later;
  sum.fed_bytes = 100;
  sum.segment_bytes = 7;
  sum.plan = work_plan::shared;
  sum.held_bytes.mean = 4;
  sum.lanes = {lane_of(-1, 1, 10), lane_of(-1, 2, 20), lane_of(3, 4, 40), lane_of(3, 5, 50)};
  // The device has failed: the later feed has no lanes of it.
  later.fed_bytes = 300;
  later.segment_bytes = 5;
  later.device_warning = "lost";
  later.held_bytes.mean = 8;
  later.lanes = {lane_of(-1, 8, 80), lane_of(-1, 16, 160), lane_of(4, 32, 320)};
  add_work(sum, later);
  EXPECT_EQ(sum.fed_bytes, 400u);
  EXPECT_EQ(sum.segment_bytes, 7u);
  EXPECT_EQ(sum.plan, work_plan::processor);
  EXPECT_EQ(sum.device_warning, "lost");
  EXPECT_DOUBLE_EQ(sum.held_bytes.mean, 7);
  ASSERT_EQ(sum.lanes.size(), 5u);
  EXPECT_EQ(sum.lanes[1].at(stage::chunking).bytes, 180u);
  EXPECT_DOUBLE_EQ(sum.lanes[0].at(stage::chunking).seconds, 9);

  const auto stages = costs_of_stages(sum.lanes);
  ASSERT_EQ(stages.size(), stage_count);
  EXPECT_EQ(stages[1].work.bytes, 270u) << "of processors";
  const auto devices = costs_of_devices(sum.lanes);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].work.bytes, 90u);
  EXPECT_EQ(devices[0].lane_count, 2u);
  EXPECT_EQ(bottleneck_of(stages, devices, 2), "device 4");
  EXPECT_EQ(bottleneck_of(stages, {}, 2), "chunking");
  EXPECT_EQ(bottleneck_of({}, {}, 2), std::nullopt);
}

TEST(check_devices, finds_what_a_feed_would_refuse) {
  const engine threads = engine_factory::make({.threads = 1}, std::make_shared<host_device>()).value();
  feed_options options{.cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400")};
  const auto message = [&](backend where, std::vector<int> devices) {
    options.where = where;
    options.devices = std::move(devices);
    return threads.check_devices(options).message();
  };
  EXPECT_EQ(message(backend::cuda, {0, 1}), "");
  EXPECT_EQ(message(backend::hybrid, {2}), "there are two devices");
  EXPECT_EQ(message(backend::automatic, {2}), "") << "they may stay unused";
  EXPECT_EQ(message(backend::cuda, {}), "no device is named");
  EXPECT_EQ(message(backend::scalar, {1, 1}), "a device is named twice");
}

}  // namespace
}  // namespace cutpoint::tests
