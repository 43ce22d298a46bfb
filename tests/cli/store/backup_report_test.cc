// What the report of a backup says of plans and devices: of a made-up run on the processor and a device.
#include "cli/store/backup_report.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

constexpr double GB = 1e9;

lane_record lane_of(int device, stage which, double seconds, std::uint64_t bytes) {
  lane_record lane{.device = device};
  lane.work[static_cast<std::size_t>(which)] = {.seconds = seconds, .bytes = bytes};
  return lane;
}

/// Two processors and a device stored 4 GB in a second, of which the device cut three quarters. Writing took longest.
store_work made_up_work() {
  store_work work{.wall_seconds = 1, .thread_count = 2};
  work.feed.fed_bytes = 4'000'000'000;
  work.feed.device_bytes = 3'000'000'000;
  work.feed.plan = work_plan::shared;
  work.feed.chunked_on = work.feed.fingerprinted_on = backend::hybrid;
  work.feed.predictions = {
      {.plan = work_plan::shared, .bytes_per_second = 5 * GB, .limits = {{"device 0", 5 * GB}, {"reading", 9 * GB}}},
      {.plan = work_plan::processor, .bytes_per_second = GB, .limits = {{"processor", GB}, {"reading", 9 * GB}}}};
  work.feed.lanes = {lane_of(-1, stage::chunking, 0.5, 1'000'000'000), lane_of(-1, stage::chunking, 0.5, 0),
                     lane_of(0, stage::chunking, 0.6, 3'000'000'000)};
  work.writing = {.seconds = 0.9, .bytes = 1'000'000'000};
  return work;
}

/// Returns what a report prints of it: lines on standard output, and messages on standard error.
std::pair<std::string, std::string> report_of(const store_work& work, report_format format) {
  const console say(verbosity::verbose);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto out = output::open({});
  EXPECT_TRUE(out.ok());
  backup_report report(say, verbosity::verbose, format, *out);
  report.take_work(work, nullptr);
  report.finish();
  store_snapshot snapshot;
  snapshot.id = std::string(64, 'a');
  EXPECT_TRUE(report.summarize(snapshot, false).ok());
  std::string lines = testing::internal::GetCapturedStdout();
  return {std::move(lines), testing::internal::GetCapturedStderr()};
}

TEST(backup_report, names_the_bottleneck_before_and_after_offload) {
  const auto [id, text] = report_of(made_up_work(), report_format::text);
  EXPECT_EQ(id, std::string(64, 'a') + "\n");
  EXPECT_THAT(text, HasSubstr("bottleneck: writing; cut on hybrid, fingerprinted on hybrid\n"));
  EXPECT_THAT(text, HasSubstr("before offload: processor 954 MiB/s, bound by processor at 954 MiB/s, then writing at "
                              "4.14 GiB/s\n"));
  EXPECT_THAT(text, HasSubstr("after offload: shared 4.14 GiB/s, bound by writing at 4.14 GiB/s, then device 0 at "
                              "4.66 GiB/s; 75.0 % cut on devices\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("warning")));
}

TEST(backup_report, has_the_same_in_json) {
  const ordered_json told = ordered_json::parse(report_of(made_up_work(), report_format::json).first);
  EXPECT_EQ(told["bottleneck"], "writing");
  EXPECT_EQ(told["plan"], "shared");
  EXPECT_EQ(told["before_offload"]["limit"], "processor");
  EXPECT_EQ(told["after_offload"]["limit"], "writing");
  EXPECT_EQ(told["after_offload"]["plan"], "shared");
  EXPECT_EQ(told["device_cut_share"], 0.75);
  ASSERT_EQ(told["devices"].size(), 1u);
  EXPECT_EQ(told["devices"][0]["bytes"], 3'000'000'000);
  EXPECT_EQ(told["stages"].back()["stage"], "writing");
}

TEST(backup_report, warns_of_a_device_that_has_failed) {
  store_work work = made_up_work();
  work.feed.device_warning = "the device is lost; the processor does the rest of the work";
  EXPECT_THAT(report_of(work, report_format::json).second, HasSubstr("warning: the device is lost; the processor"));
}

}  // namespace
}  // namespace cutpoint::cli
