// What the report of `cutpoint dedup` says of plans, devices and queues: of a made-up run on two devices.
#include <memory>

#include <cutpoint/catalog.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/dedup/explanation.h"
#include "cli/dedup/report.h"

namespace cutpoint::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

constexpr auto in_gib = static_cast<double>(GiB);

std::array<stage_work, stage_count> work_of(stage_work chunking, stage_work fingerprinting) {
  std::array<stage_work, stage_count> all = {};
  all[static_cast<std::size_t>(stage::chunking)] = chunking;
  all[static_cast<std::size_t>(stage::fingerprinting)] = fingerprinting;
  return all;
}

/// Two processors that did 1 GiB, and two devices of two lanes each that did 3 and 4 GiB in a second.
class made_up_run {
 public:
  made_up_run() {
    rates_->processor = {.lane_count = 2, .chunking = in_gib, .fingerprinting = in_gib};
    rates_->reading = 10 * in_gib;
    const device_rates fast = {
        .device = 2, .link_in = 8 * in_gib, .chunking = 8 * in_gib, .fingerprinting = 8 * in_gib, .lane_count = 2};
    rates_->devices = {fast, fast};
    rates_->devices[1].device = 5;
    rates_->devices[1].link_in = 3 * in_gib;
    job_.rates = rates_;
    feed_statistics& work = facts.work;
    work.fed_bytes = 8 * GiB;
    work.device_bytes = 7 * GiB;
    work.plan = work_plan::shared;
    work.predictions = {{.plan = work_plan::shared,
                         .bytes_per_second = 8 * in_gib,
                         .device_cut_share = 0.875,
                         .device_fingerprint_share = 0.875,
                         .limits = {{"link of device 1", 8 * in_gib}, {"reading", 10 * in_gib}}},
                        {.plan = work_plan::processor, .bytes_per_second = in_gib, .limits = {{"processor", in_gib}}}};
    const stage_work half{.seconds = 0.5, .bytes = 512 * MiB};
    for (int i = 0; i < 2; ++i) work.lanes.push_back({.work = work_of(half, half)});
    for (int device : {2, 5}) {
      for (std::uint64_t i = 1; i <= 2; ++i) {
        const std::uint64_t bytes = device == 2 ? i * GiB : 2 * GiB;
        work.lanes.push_back({.device = device, .work = work_of({.seconds = 0.9, .bytes = bytes}, {.bytes = bytes})});
      }
    }
    work.held_bytes = {.mean = 1e6, .most = 3'000'000, .capacity = 4'000'000};
    work.waiting_segments = {.mean = 1.5, .most = 4};
    facts.feed = &job_;
    facts.thread_count = 2;
    facts.wall_seconds = 1;
    facts.tally = &tally_;
    EXPECT_TRUE(tally_.begin_stream(0).ok());
    EXPECT_TRUE(tally_.take({.length = 8 * GiB, .fingerprint = {.bytes = {1}, .size = 32}}).ok());
  }
  made_up_run(const made_up_run&) = delete;
  made_up_run& operator=(const made_up_run&) = delete;

  dedup_report facts;

 private:
  std::shared_ptr<job_rates> rates_ = std::make_shared<job_rates>();
  feed_options job_{.cuts = find_entry("gear").value()->defaults};
  dedup_tally tally_{fingerprint_kind::sha256, [](std::uint64_t) { return std::size_t{0}; }};
};

ordered_json time_of(const dedup_report& facts) { return ordered_json::parse(json_line(time_json(facts))); }

TEST(time_report, says_the_bottleneck_before_and_after_offload_with_numbers) {
  const made_up_run run;
  const std::string text = time_report(run.facts);
  EXPECT_THAT(text, HasSubstr("before offload processor 1.00 GiB/s, bound by processor at 1.00 GiB/s\n"));
  EXPECT_THAT(text,
              HasSubstr("after offload  shared 8.00 GiB/s, bound by link of device 1 at 8.00 GiB/s, then reading at "
                        "10.0 GiB/s\n"));
  EXPECT_THAT(text, HasSubstr("measured       8.00 GiB/s, bottleneck device 2, 87.5 % cut on devices\n"));
  const ordered_json told = time_of(run.facts);
  EXPECT_EQ(told["before_offload"]["limit"], "processor");
  EXPECT_EQ(told["before_offload"]["predicted_bytes_per_second"], in_gib);
  EXPECT_EQ(told["after_offload"]["plan"], "shared");
  EXPECT_EQ(told["after_offload"]["limit_bytes_per_second"], 8 * in_gib);
  EXPECT_EQ(told["predictions"].size(), 2u);
  EXPECT_EQ(told["predictions"][0]["limits"][1]["name"], "reading");
  EXPECT_EQ(told["device_cut_share"], 0.875);
}

TEST(time_report, keeps_devices_out_of_the_stages_of_the_processor) {
  const made_up_run run;
  const auto stages = run.facts.stages();
  EXPECT_EQ(stages[2].name, "chunking");
  EXPECT_EQ(stages[2].work.bytes, GiB);
  const auto devices = run.facts.devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, 2);
  EXPECT_EQ(devices[0].work.bytes, 3 * GiB);
  EXPECT_DOUBLE_EQ(devices[0].alone_seconds(), 0.9);
  EXPECT_DOUBLE_EQ(*devices[1].bytes_per_second(), 4 * in_gib / 0.9);
}

TEST(time_report, has_predicted_rates_beside_measured_ones) {
  const made_up_run run;
  const ordered_json told = time_of(run.facts);
  const ordered_json& chunking = told["stages"][2];
  EXPECT_EQ(chunking["predicted_bytes_per_second"], in_gib);
  EXPECT_EQ(chunking["bytes_per_second"], in_gib);
  EXPECT_EQ(told["devices"][0]["predicted_bytes_per_second"], 4 * in_gib);  // kernels
  EXPECT_EQ(told["devices"][1]["predicted_bytes_per_second"], 3 * in_gib);  // link
  const ordered_json& lanes = told["lanes"];
  EXPECT_EQ(lanes[1]["name"], "processor 1");
  EXPECT_EQ(lanes[1]["device"], nullptr);
  EXPECT_EQ(lanes[1]["bytes_per_second"], in_gib);
  EXPECT_EQ(lanes[1]["predicted_bytes_per_second"], in_gib);
  EXPECT_EQ(lanes[5]["name"], "device 5 stream 1");
  EXPECT_EQ(lanes[5]["device"], 5);
  EXPECT_EQ(lanes[5]["predicted_bytes_per_second"], 3 * in_gib);  // cut and fingerprinted: twice 3 GiB by two lanes
}

TEST(time_report, has_how_full_queues_were) {
  const made_up_run run;
  const ordered_json queues = time_of(run.facts)["queues"];
  EXPECT_EQ(queues[0],
            (ordered_json{
                {"queue", "held"}, {"unit", "bytes"}, {"mean", 1e6}, {"most", 3'000'000}, {"capacity", 4'000'000}}));
  EXPECT_EQ(
      queues[1],
      (ordered_json{{"queue", "to_map"}, {"unit", "segments"}, {"mean", 1.5}, {"most", 4}, {"capacity", nullptr}}));
}

TEST(time_report, says_so_where_nothing_was_predicted) {
  made_up_run run;
  run.facts.work.predictions.clear();
  const std::string text = time_report(run.facts);
  EXPECT_THAT(text, HasSubstr("plan           shared; nothing was predicted\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("before offload")));
  EXPECT_EQ(time_of(run.facts)["before_offload"]["limit"], nullptr);
}

}  // namespace
}  // namespace cutpoint::cli
