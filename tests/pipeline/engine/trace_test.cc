// Tests of the trace of a feed: spans do not overlap, and their sums are the statistics of the lanes.
#include <algorithm>
#include <map>

#include <cutpoint/catalog.h>
#include <cutpoint/stage_costs.h>
#include <cutpoint/trace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/engine/engine_pool.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

constexpr double clock_error = 1e-9;  ///< rounding error of sums and differences of doubles

class timeline final : public trace_receiver {
 public:
  void begin(std::chrono::steady_clock::time_point opening_time,
             std::span<const lane_record> records) noexcept override {
    EXPECT_TRUE(lanes.empty());
    EXPECT_LE(opening_time, std::chrono::steady_clock::now());
    lanes.assign(records.begin(), records.end());
  }
  void take(const trace_span& span) noexcept override { spans.push_back(span); }
  void take(const trace_levels& now) noexcept override { levels.push_back(now); }

  std::vector<lane_record> lanes;
  std::vector<trace_span> spans;
  std::vector<trace_levels> levels;
};

chunker gear() {
  const std::vector<parameter_setting> sizes = {{"min_bytes", "256"}, {"avg_bytes", "1K"}, {"max_bytes", "4K"}};
  return make_chunker("gear", sizes).value().chunker;
}

struct traced_run {
  timeline seen;
  feed_statistics statistics;
};

traced_run run_traced(const engine_options& threads, feed_options options, std::uint64_t bytes) {
  traced_run run;
  recorder out;
  auto engine = engine_factory::make(threads, std::make_shared<host_device>()).value();
  options.trace = &run.seen;
  auto feed = engine.open(options, out).value();
  EXPECT_TRUE(feed.begin(0).ok());
  EXPECT_TRUE(feed.write(make_stream(content::random, bytes, 1)).ok());
  EXPECT_TRUE(feed.write_zeros(1 * MiB).ok());
  EXPECT_TRUE(feed.end().ok());
  EXPECT_TRUE(feed.finish().ok());
  EXPECT_EQ(out.fault, "");
  run.statistics = feed.statistics();
  return run;
}

void expect_no_overlap(const traced_run& run) {
  std::map<std::uint64_t, std::vector<trace_span>> by_lane;
  for (const trace_span& span : run.seen.spans) {
    if (std::holds_alternative<stage>(span.what)) by_lane[span.lane].push_back(span);
  }
  for (auto& [lane, spans] : by_lane) {
    ASSERT_LT(lane, run.seen.lanes.size());
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    double reached = 0;
    for (const trace_span& span : spans) {
      EXPECT_LE(reached, span.begin + clock_error);
      EXPECT_LE(span.begin, span.end);
      EXPECT_EQ(span.device, run.seen.lanes[lane].device);
      reached = span.end;
    }
  }
}

void expect_sums(const traced_run& run) {
  std::vector<lane_record> sums(run.statistics.lanes.size());
  for (const trace_span& span : run.seen.spans) {
    if (!std::holds_alternative<stage>(span.what)) continue;
    stage_work& sum = sums[span.lane].work[static_cast<std::size_t>(std::get<stage>(span.what))];
    sum.seconds += span.end - span.begin;
    sum.bytes += span.bytes;
  }
  for (std::size_t lane = 0; lane < sums.size(); ++lane) {
    for (std::size_t i = 0; i < stage_count; ++i) {
      const auto error = clock_error * static_cast<double>(run.seen.spans.size());
      EXPECT_NEAR(sums[lane].work[i].seconds, run.statistics.lanes[lane].work[i].seconds, error);
      // A device that cuts and fingerprints does so in one stage, so the bytes of fingerprinting differ.
      const bool is_apart = run.seen.lanes[lane].device >= 0 && static_cast<stage>(i) == stage::fingerprinting;
      if (is_apart) continue;
      EXPECT_EQ(sums[lane].work[i].bytes, run.statistics.lanes[lane].work[i].bytes);
    }
  }
}

TEST(trace, of_any_number_of_lanes_has_spans_that_do_not_overlap_and_whose_sums_are_the_statistics) {
  for (const std::uint64_t threads : {1u, 2u, 5u}) {
    for (const join_kind join : {join_kind::exact, join_kind::pdedupe}) {
      const traced_run run =
          run_traced({.threads = threads}, {.cuts = gear(), .join = join, .segment_bytes = 64 * KiB}, 4 * MiB + 12'345);
      EXPECT_EQ(run.seen.lanes.size(), threads);
      EXPECT_GT(run.seen.spans.size(), 100u);
      expect_no_overlap(run);
      expect_sums(run);
    }
  }
}

TEST(trace, has_every_stage) {
  const traced_run run = run_traced({.threads = 2}, {.cuts = gear()}, 8 * MiB);
  for (std::size_t i = 0; i < stage_count; ++i) {
    EXPECT_THAT(run.seen.spans, testing::Contains(testing::Field(&trace_span::what,
                                                                 testing::VariantWith<stage>(static_cast<stage>(i)))));
  }
}

TEST(trace, of_a_device_has_its_lanes_behind_the_processors_and_the_steps_of_each_batch_within_its_span) {
  const traced_run run =
      run_traced({.threads = 2},
                 {.cuts = gear(), .where = backend::cuda, .segment_bytes = 64 * KiB, .batch_bytes = 64 * KiB}, 1 * MiB);
  ASSERT_EQ(run.statistics.device_warning, "");
  ASSERT_EQ(run.seen.lanes.size(), 5u);
  for (std::size_t lane = 0; lane < 5; ++lane) EXPECT_EQ(run.seen.lanes[lane].device, lane < 2 ? -1 : 0);
  expect_no_overlap(run);
  expect_sums(run);
  std::size_t batches = 0;
  std::uint64_t cut_bytes = 0;
  for (std::size_t i = 0; i < run.seen.spans.size(); ++i) {
    if (run.seen.spans[i].what != std::variant<stage, device_step>(device_step::copy_in)) continue;
    ASSERT_GE(i, 1u);
    const trace_span& whole = run.seen.spans[i - 1];
    EXPECT_EQ(std::get<stage>(whole.what), stage::chunking);
    double reached = whole.begin;
    for (std::size_t k = 0; k < 4; ++k) {
      const trace_span& step = run.seen.spans.at(i + k);
      EXPECT_EQ(std::get<device_step>(step.what), static_cast<device_step>(k));
      EXPECT_EQ(step.lane, whole.lane);
      EXPECT_EQ(step.device, 0);
      EXPECT_LE(reached, step.begin + clock_error);
      EXPECT_LE(step.begin, step.end);
      EXPECT_GT(step.bytes, 0u);
      reached = step.end;
    }
    EXPECT_LE(reached, whole.end + clock_error);
    cut_bytes += run.seen.spans[i + 1].bytes;
    ++batches;
  }
  EXPECT_GT(batches, 4u);
  EXPECT_EQ(cut_bytes, run.statistics.device_bytes);
}

TEST(trace, has_levels_within_what_the_feed_may_hold_and_ends_with_nothing_held) {
  const traced_run run = run_traced({.threads = 2}, {.cuts = gear(), .segment_bytes = 64 * KiB}, 8 * MiB);
  std::uint64_t most = 0;
  for (const trace_levels& now : run.seen.levels) {
    EXPECT_LE(now.held_bytes, run.statistics.ring_bytes);
    EXPECT_LE(now.waiting_delivery_bytes, now.held_bytes);
    EXPECT_LE(now.waiting_fingerprint_bytes, now.waiting_delivery_bytes);
    EXPECT_GE(now.at, 0);
    most = std::max(most, now.held_bytes);
  }
  EXPECT_GT(most, 64 * KiB);
  EXPECT_EQ(run.seen.levels.back().held_bytes, 0u);
  EXPECT_EQ(run.seen.levels.back().waiting_segments, 0u);
}

// Tests of the sums over lanes and feeds, and of devices that are looked at before a feed is opened.

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
  const auto& chunking = stages[static_cast<std::size_t>(stage::chunking)];
  EXPECT_EQ(chunking.work.bytes, 270u) << "of processors";
  const auto devices = costs_of_devices(sum.lanes);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].work.bytes, 90u);
  EXPECT_EQ(devices[0].lane_count, 2u);
  EXPECT_EQ(bottleneck_of(stages, devices, 2), "device 4");
  EXPECT_EQ(bottleneck_of(stages, {}, 2), "chunking");
  EXPECT_EQ(bottleneck_of({}, {}, 2), std::nullopt);
}

TEST(stage_costs, of_reading_are_shared_but_for_those_of_the_feeding_thread) {
  lane_record lane;
  lane.work[static_cast<std::size_t>(stage::reading)] = {.seconds = 3, .bytes = 30};
  const std::vector<lane_record> lanes(2, lane);
  const stage_cost by_lanes = costs_of_stages(lanes).front();
  EXPECT_EQ(by_lanes.work.bytes, 60u);
  EXPECT_DOUBLE_EQ(by_lanes.alone_seconds(2), 3);
  const stage_cost mostly_alone = costs_of_stages(lanes, {.seconds = 8, .bytes = 80}).front();
  EXPECT_EQ(mostly_alone.work.bytes, 140u);
  EXPECT_DOUBLE_EQ(mostly_alone.work.seconds, 14);
  EXPECT_DOUBLE_EQ(mostly_alone.alone_seconds(2), 8);
  EXPECT_DOUBLE_EQ(mostly_alone.alone_seconds(1), 14);
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
