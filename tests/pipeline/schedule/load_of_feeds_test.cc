// Sixteen feeds of one engine on a simulated machine with one device, while other work begins on the processors: against every
// fixed division of the feeds between the processor and the device, and what it costs that each feed fills batches of its own.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/expecting_receiver.h"
#include "tests/pipeline/support/simulated_machine.h"

namespace cutpoint::tests {
namespace {

class feeds_under_load : public testing::Test {
 protected:
  static constexpr std::size_t feed_count = 16;
  static constexpr double mega = 1e6;

  /// Sizes relate to the stream as usual ones relate to 256 MiB.
  static feed_options small_sizes() {
    return {.cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400"),
            .fingerprint = fingerprint_kind::xxh3,
            .where = backend::automatic,
            .segment_bytes = 8 * KiB,
            .batch_bytes = 256 * KiB,
            .memory_bytes = 4 * MiB};
  }

  /// Four processors that cut and fingerprint so fast, and read twenty times as fast as usual ones.
  static simulated_machine machine_of(double processor_rate, device_rates device) {
    simulated_machine machine;
    machine.rates.processor = {
        .lane_count = 4, .chunking = processor_rate * mega, .fingerprinting = processor_rate * mega};
    machine.rates.devices = {device};
    machine.rates.reading = 800 * mega;
    machine.rates.reader_count = 4;
    return machine;
  }

  static device_rates device_of(double kernel_rate) {
    return {.link_in = 500 * mega,
            .link_out = 500 * mega,
            .latency_seconds = 20e-6,
            .chunking = kernel_rate * mega,
            .fingerprinting = kernel_rate * mega,
            .out_share = 0.004};
  }

  /// Returns when the last of `count` feeds is done. The first `on_device` are given to the device, if that is asked for, and the
  /// others to the processor.
  static double seconds(const simulated_machine& machine, feed_options options, byte_span stream, std::size_t count,
                        std::optional<std::size_t> on_device = {}) {
    options.rates = std::make_shared<const job_rates>(machine.rates);
    const std::vector<chunk>& chunks = cuts_of(options.cuts, stream);
    std::vector<expecting_receiver> receivers(count, expecting_receiver(chunks, false));
    std::vector<simulated_feed> feeds;
    for (std::size_t i = 0; i < count; ++i) {
      if (on_device) options.where = i < *on_device ? backend::cuda : backend::scalar;
      feeds.push_back({.options = options, .stream = stream, .receiver = &receivers[i]});
    }
    double last = 0;
    for (const simulated_run& run : value_of(simulate_feeds(machine, feeds))) {
      EXPECT_EQ(run.bytes, stream.size());
      last = std::max(last, run.seconds);
    }
    return last;
  }

  /// Of the plans that give the first feeds to the device and the others to the processor. How long they take has one minimum,
  /// as their number grows.
  static double seconds_of_best_fixed_plan(const simulated_machine& machine, const feed_options& options,
                                           byte_span stream) {
    std::map<std::size_t, double> known;
    const auto seconds_with = [&](std::size_t on_device) {
      if (!known.contains(on_device)) known[on_device] = seconds(machine, options, stream, feed_count, on_device);
      return known[on_device];
    };
    std::size_t first = 0;
    for (std::size_t last = feed_count; first < last;) {
      const std::size_t middle = (first + last) / 2;
      const bool falls = seconds_with(middle) > seconds_with(middle + 1);
      (falls ? first : last) = falls ? middle + 1 : middle;
    }
    return seconds_with(first);
  }

 private:
  static const std::vector<chunk>& cuts_of(const chunker& cuts, byte_span stream) {
    static std::map<std::pair<std::string, std::size_t>, std::vector<chunk>> known;
    auto& chunks = known[{cuts.canonical(), stream.size()}];
    if (chunks.empty()) chunks = cuts.find_cuts(stream);
    return chunks;
  }
};

TEST_F(feeds_under_load, reach_nine_tenths_of_the_best_fixed_plan) {
  const auto stream = make_stream(content::random, 1 * MiB, 91);
  const feed_options options = small_sizes();
  // From three tenths of the time on, other work leaves the processors this share of their speed.
  const auto expect_near_best = [&](simulated_machine machine, work_plan idle_plan, double speed) {
    feed_options asked = options;
    asked.rates = std::make_shared<const job_rates>(machine.rates);
    EXPECT_EQ(choose_work(asked, 4).plan, idle_plan);
    machine.slowdowns = {{.begin = 0.3 * seconds(machine, options, stream, feed_count), .speed = speed}};
    const double best = seconds_of_best_fixed_plan(machine, options, stream);
    EXPECT_GT(best, 0.9 * seconds(machine, options, stream, feed_count));
    if (idle_plan == work_plan::shared) return;
    EXPECT_LT(best, 0.9 * seconds(machine, options, stream, feed_count, 0)) << "the plan need not be revised";
  };
  expect_near_best(machine_of(40, device_of(160)), work_plan::shared, 0.25);
  expect_near_best(machine_of(40, device_of(14)), work_plan::processor, 0.1);
}

/// Rates of docs/results/rates/h200.json for gear and SHA-1.
TEST_F(feeds_under_load, lose_hardly_anything_by_batches_of_their_own) {
  struct division {
    std::size_t feeds;
    std::uint64_t feed_bytes;
  };
  const auto bytes = make_stream(content::random, 64 * MiB, 91);
  simulated_machine machine;
  machine.rates.processor = {.chunking = 2.74e9, .fingerprinting = 3.22e9, .memory = 204.8e9};
  machine.rates.devices = {{.link_in = 50e9,
                            .link_out = 50e9,
                            .latency_seconds = 60e-6,
                            .chunking = 2.5e12,
                            .fingerprinting = 2.1e12,
                            .out_share = 0.0026}};
  machine.rates.reading = 6.41e9;
  const feed_options options{.cuts = chunker_of("gear", "min_bytes=2048,avg_bytes=8192,max_bytes=65536"),
                             .fingerprint = fingerprint_kind::xxh3};
  for (const division each : {division{16, 4 * MiB}, division{64, 256 * KiB}}) {
    if (is_sanitized && each.feed_bytes > 1 * MiB) continue;
    for (const std::uint64_t cores : {4u, 16u}) {
      machine.rates.processor.lane_count = cores;
      machine.rates.reader_count = cores;
      const double own = seconds(machine, options, byte_span(bytes).first(each.feed_bytes), each.feeds);
      // One feed, as if all shared its batches.
      const double shared = seconds(machine, options, byte_span(bytes).first(each.feeds * each.feed_bytes), 1);
      EXPECT_LT(own, 1.05 * shared) << each.feeds << " feeds, " << cores << " processors";
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
