// Tests of the schedule on simulated machines with lanes of any rates. The speed is the sum of the lanes' rates unless
// a shared resource bounds it, a slow lane delays the end by at most one batch, and a device that fails loses no chunk.
// The chunks are the sequential ones.
#include "tests/pipeline/support/simulated_machine.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/expecting_receiver.h"

namespace cutpoint::tests {
namespace {

constexpr double mb = 1e6;

class paced : public testing::Test {
 protected:
  static constexpr std::uint64_t stream_bytes = 20 * MiB + 17;
  /// Long enough that the beginning and the end of the stream hardly affect the speed.
  static constexpr std::uint64_t long_stream_bytes = 64 * MiB + 17;

  static const chunker& cuts() {
    static const chunker made_once = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400");
    return made_once;
  }
  static const std::vector<std::uint8_t>& bytes() {
    static const std::vector<std::uint8_t> made_once = make_stream(content::random, long_stream_bytes, 91);
    return made_once;
  }

  /// Returns options with small sizes. They relate to the short stream as usual sizes relate to a long one.
  static feed_options options(backend where = backend::hybrid) {
    return {.cuts = cuts(),
            .fingerprint = fingerprint_kind::xxh3,
            .where = where,
            .segment_bytes = 32 * KiB,
            .batch_bytes = 1 * MiB,
            .memory_bytes = 24 * MiB};
  }

  static simulated_run run(const simulated_machine& machine, feed_options asked, std::uint64_t length = stream_bytes,
                           bool selects = false) {
    static std::map<std::uint64_t, std::vector<chunk>> expected;
    const byte_span stream = byte_span(bytes()).first(length);
    if (!expected.contains(length)) expected[length] = cuts().find_cuts(stream);
    if (!asked.rates) asked.rates = std::make_shared<const job_rates>(machine.rates);
    for (std::size_t i = asked.devices.size(); i < machine.rates.devices.size(); ++i) {
      asked.devices.push_back(static_cast<int>(i));
    }
    expecting_receiver receiver(expected[length], selects);
    return value_of(simulate_feed(machine, asked, stream, receiver));
  }
};

/// Returns a machine on which mapping a segment takes milliseconds, as on a real one.
simulated_machine machine_of(std::uint64_t cores, double processor_rate, std::size_t devices, double device_rate) {
  simulated_machine machine;
  machine.rates.processor = {
      .lane_count = cores, .chunking = 2 * processor_rate * mb, .fingerprinting = 2 * processor_rate * mb};
  for (std::size_t i = 0; i < devices; ++i) {
    machine.rates.devices.push_back({.device = static_cast<int>(i),
                                     .link_in = 4 * device_rate * mb,
                                     .link_out = 4 * device_rate * mb,
                                     .latency_seconds = 20e-6,
                                     .chunking = 2 * device_rate * mb,
                                     .fingerprinting = 2 * device_rate * mb,
                                     .out_share = 0.01});
  }
  return machine;
}

TEST_F(paced, hybrid_runs_reach_nine_tenths_of_the_sum_of_their_lanes) {
  for (const std::uint64_t cores : {1u, 8u, 24u}) {
    if (is_sanitized && cores != 8) continue;
    for (const double device_rate : {2.0, 100.0, 800.0}) {
      for (const std::size_t devices : {1u, 2u}) {
        const bool selects = devices == 2;  // as a backup does
        const simulated_machine machine = machine_of(cores, 20, devices, device_rate);
        const double sum = (static_cast<double>(cores) * 20 + static_cast<double>(devices) * device_rate) * mb;
        const simulated_run got = run(machine, options(), long_stream_bytes, selects);
        EXPECT_GT(got.bytes_per_second(), 0.9 * sum) << cores << " cores, " << devices << " of " << device_rate;
        EXPECT_LT(got.bytes_per_second(), 1.02 * sum);
      }
    }
  }
}

/// Rates like those of docs/dispatch.md, a hundredth of them: on so short a stream latency would take much of the time.
TEST_F(paced, several_readers_move_the_bound_from_reading_to_the_link_and_the_memory) {
  const auto run_with = [&](std::uint64_t cores, std::uint64_t readers) {
    simulated_machine machine;
    machine.rates.processor = {
        .lane_count = cores, .chunking = 33 * mb, .fingerprinting = 30 * mb, .memory = 2050 * mb};
    machine.rates.devices = {{.device = 0,
                              .link_in = 500 * mb,
                              .link_out = 500 * mb,
                              .latency_seconds = 20e-6,
                              .chunking = 5000 * mb,
                              .fingerprinting = 5000 * mb,
                              .out_share = 0.004}};
    machine.rates.reading = 80 * mb;
    machine.rates.reader_count = readers;
    const double predicted = predict_plans(machine.rates).front().bytes_per_second;
    const simulated_run got = run(machine, options(backend::automatic), long_stream_bytes);
    EXPECT_GT(got.bytes_per_second(), 0.8 * predicted) << cores << " processors, " << readers << " readers";
    EXPECT_LT(got.bytes_per_second(), 1.03 * predicted);
    const plan_prediction best = predict_plans(machine.rates).front();
    return fmt::format("{}: {}, {}", to_string(best.plan), best.limits[0].name, best.limits[1].name);
  };
  EXPECT_EQ(run_with(1, 1), "shared: processor, reading");
  EXPECT_EQ(run_with(4, 1), "shared: reading, processor");
  EXPECT_EQ(run_with(16, 1), "processor: reading, processor");
  EXPECT_EQ(run_with(4, 4), "shared: processor, reading");
  EXPECT_EQ(run_with(16, 16), "shared: processor, link of device 0");
}

TEST_F(paced, what_lanes_share_is_what_binds) {
  const simulated_machine free = machine_of(8, 20, 1, 200);
  const auto expect_bound = [&](const simulated_machine& machine, double limit) {
    const double got = run(machine, options()).bytes_per_second();
    EXPECT_GT(got, 0.9 * limit * mb);
    EXPECT_LT(got, 1.02 * limit * mb);
  };
  simulated_machine bound = free;
  bound.rates.reading = 150 * mb;
  expect_bound(bound, 150);
  bound = free;
  bound.rates.delivery = 120 * mb;
  expect_bound(bound, 120);
  bound = free;
  bound.rates.devices[0].link_in = 50 * mb;
  expect_bound(bound, 8 * 20 + 50);
  bound = free;
  bound.rates.processor.memory = 300 * mb;
  expect_bound(bound, 300 / 3.0);  // bytes are moved twice by the intake and once more to a lane or a device
}

/// The lane that ends last began its last task while the others still had work.
TEST_F(paced, slow_lanes_delay_the_end_by_no_more_than_one_batch) {
  for (const double device_rate : {0.2, 1.0, 5.0, 400.0, 4000.0}) {
    for (const std::uint64_t cores : {1u, 4u}) {
      for (std::uint64_t seed = 1; seed <= case_count(4u); ++seed) {
        simulated_machine machine = machine_of(cores, 20, 1, device_rate);
        machine.jitter = 0.3;
        machine.seed = seed;
        const simulated_run got = run(machine, options());
        const auto last = std::max_element(got.lanes.begin(), got.lanes.end(),
                                           [](const auto& a, const auto& b) { return a.last_end < b.last_end; });
        double others = 0;
        for (const simulated_lane& each : got.lanes) {
          if (&each != &*last) others = std::max(others, each.last_end);
        }
        const bool is_slower = (last->device >= 0) == (device_rate < 20);
        if (!is_slower) continue;
        EXPECT_LE(last->last_begin, others + 0.01 * got.seconds)
            << cores << " cores, device " << device_rate << ", seed " << seed;
      }
    }
  }
}

TEST_F(paced, no_lane_starves) {
  for (const double device_rate : {5.0, 50.0, 500.0}) {
    const simulated_run got = run(machine_of(6, 20, 2, device_rate), options());
    for (std::size_t i = 0; i < got.lanes.size(); ++i) {
      EXPECT_GT(got.lanes[i].busy_seconds, 0.75 * got.seconds) << "lane " << i << " with devices of " << device_rate;
    }
  }
}

TEST_F(paced, devices_that_fail_on_the_way_lose_nothing) {
  for (const backend where : {backend::cuda, backend::hybrid}) {
    simulated_machine machine = machine_of(3, 20, 2, 60);
    const double whole = run(machine, options(where)).seconds;
    for (int i = 0; i <= 10; i += is_sanitized ? 5 : 1) {
      machine.device_fails_at = {whole * i / 10, whole * (10 - i) / 10};
      const simulated_run got = run(machine, options(where));
      EXPECT_EQ(got.bytes, stream_bytes);
      EXPECT_GT(got.seconds, 0.99 * whole);
      EXPECT_LT(got.seconds, static_cast<double>(stream_bytes) / (0.9 * 60 * mb) + whole)
          << "more than the processor takes";
    }
  }
}

TEST_F(paced, wrong_expectations_are_corrected) {
  const simulated_machine machine = machine_of(4, 20, 1, 100);
  for (const double belief : {0.1, 0.5, 2.0, 10.0}) {
    job_rates believed = machine.rates;
    believed.devices[0].chunking *= belief;
    believed.devices[0].fingerprinting *= belief;
    feed_options asked = options();
    asked.rates = std::make_shared<const job_rates>(believed);
    EXPECT_GT(run(machine, asked).bytes_per_second(), 0.8 * 180 * mb) << "believed " << belief;
  }
}

TEST_F(paced, slow_device_is_left_alone) {
  // The device is believed to cut slowly and to fingerprint fast, but it does both slowly.
  simulated_machine machine = machine_of(4, 20, 1, 100);
  machine.rates.processor.chunking = 400 * mb;
  machine.rates.devices[0].chunking = 1 * mb;
  feed_options asked = options();
  asked.rates = std::make_shared<const job_rates>(machine.rates);
  EXPECT_EQ(run(machine, asked).statistics.predictions.front().device_cut_share, 0);
  machine.rates.devices[0].fingerprinting = 1 * mb;
  const simulated_run got = run(machine, asked);
  // What the device's lanes took before the first batch was done, and then the processor alone.
  const double taken_in_vain = 3.0 * 2 * MiB / mb;
  EXPECT_LT(got.seconds, taken_in_vain + static_cast<double>(stream_bytes) / (0.7 * 4 * 36 * mb));
}

TEST_F(paced, slow_device_is_helped) {
  // Reading is the bottleneck beside a fast device, but the device is slow.
  simulated_machine machine = machine_of(4, 20, 1, 500);
  machine.rates.reading = 200 * mb;
  feed_options asked = options(backend::automatic);
  asked.rates = std::make_shared<const job_rates>(machine.rates);
  machine.rates.devices[0].chunking = 10 * mb;
  machine.rates.devices[0].fingerprinting = 10 * mb;
  EXPECT_GT(run(machine, asked, long_stream_bytes).bytes_per_second(), 0.6 * 80 * mb);
}

TEST_F(paced, devices_fingerprint_what_only_the_processor_cuts) {
  simulated_machine machine = machine_of(4, 20, 1, 100);
  machine.rates.processor.chunking = 200 * mb;
  for (const double device_cuts : {1.0, 2000.0}) {
    machine.rates.devices[0].chunking = device_cuts * mb;
    const simulated_run got = run(machine, options(), long_stream_bytes);
    EXPECT_EQ(got.statistics.predictions.front().device_cut_share > 0, device_cuts > 1);
    EXPECT_GT(got.bytes_per_second(), 0.88 * got.statistics.predictions.front().bytes_per_second);
  }
}

TEST_F(paced, every_plan_reaches_its_prediction) {
  seeded_choices random(5);
  for (int i = 0; i < case_count(6); ++i) {
    const simulated_machine machine = machine_of(random.between(1, 8), static_cast<double>(random.between(10, 60)), 1,
                                                 static_cast<double>(random.between(10, 300)));
    for (const auto& [where, plan] :
         {std::pair(backend::scalar, work_plan::processor), std::pair(backend::cuda, work_plan::device),
          std::pair(backend::hybrid, work_plan::shared)}) {
      const simulated_run got = run(machine, options(where), long_stream_bytes);
      ASSERT_EQ(got.statistics.plan, plan);
      const double predicted = prediction_of(got.statistics.predictions, plan)->bytes_per_second;
      EXPECT_GT(got.bytes_per_second(), 0.88 * predicted) << to_string(plan) << ", case " << i;
      // At the end the processor fingerprints whatever is left.
      EXPECT_LT(got.bytes_per_second(), 1.15 * predicted) << to_string(plan) << ", case " << i;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
