// Tests of calibration, on this machine and on the host double of a device: it ends and measures everything. No speed
// is asserted.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "cuda/device/measure_link.h"
#include "pipeline/dispatch/calibration_cuts.h"
#include "pipeline/dispatch/device_calibration.h"
#include "pipeline/dispatch/memory_calibration.h"
#include "pipeline/dispatch/repeated_timing.h"
#include "pipeline/dispatch/sample_cursor.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/host/algorithms/made.h"
#include "tests/pipeline/support/gpus.h"

namespace cutpoint::tests {
namespace {

using cuda::executor_call;

job_costs job_of(const std::string& name, fingerprint_kind kind) {
  return {.cuts = made(name), .fingerprint = kind, .mean_chunk_bytes = 8192, .devices = {}};
}

TEST(seconds_per_byte, counts_the_bytes_that_were_done) {
  std::vector<std::uint64_t> begins;
  const double cost = seconds_per_byte({.sample_bytes = 100, .turns = 2, .turn_seconds = 60}, [&](std::uint64_t begin) {
    begins.push_back(begin);
    return begin + 50;
  });
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{0, 50, 0, 50}));
  EXPECT_GE(cost, 0);
  EXPECT_LT(cost, 1);
}

TEST(find_fastest, adds_up_the_parts) {
  const double costs[3][2] = {{1, 5}, {2, 2}, {5, 1}};
  EXPECT_EQ(find_fastest(3, 2, [&](std::size_t i, std::size_t part) { return costs[i][part]; }), 1u);
}

TEST(find_fastest, chooses_the_last_of_those_that_are_about_equal) {
  const double costs[4] = {1.02, 1.00, 1.02, 1.08};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return costs[i]; }), 2u);
}

TEST(find_fastest, is_not_misled_by_turns_that_other_work_made_longer) {
  seeded_choices random(1);
  const auto disturbed = [&](std::size_t i, std::size_t) { return (i == 1 ? 1 : 1.2) * (random.once_in(4) ? 1.4 : 1); };
  for (int round = 0; round < 100; ++round) EXPECT_EQ(find_fastest(3, 2, disturbed), 1u);
}

TEST(find_fastest, gives_no_more_turns_to_the_slow) {
  std::vector<int> turns(4);
  const double costs[4] = {9, 1, 1.4, 1};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return ++turns[i], costs[i]; }), 3u);
  EXPECT_EQ(turns[0], 2);
  EXPECT_EQ(turns[2], 3);
  EXPECT_EQ(turns[1], turns[3]);
  EXPECT_GT(turns[3], 3);
}

TEST(find_fastest, measures_nothing_if_there_is_no_choice) {
  EXPECT_EQ(find_fastest(1, 2, [](std::size_t, std::size_t) -> double { throw std::logic_error("a turn"); }), 0u);
}

TEST(sample_cursor, is_twice_the_largest_cache_within_bounds) {
  const std::vector<std::uint8_t> random = random_bytes(1 * MiB);
  EXPECT_EQ(sample_cursor(random, 0).bytes().size(), 32 * MiB);
  EXPECT_EQ(sample_cursor(random, 20 * MiB).bytes().size(), 40 * MiB);
  EXPECT_EQ(sample_cursor(random, std::numeric_limits<std::uint64_t>::max()).bytes().size(), 256 * MiB);
}

TEST(sample_cursor, comes_by_each_byte_once_before_it_begins_anew) {
  const std::vector<std::uint8_t> random = random_bytes(1 * MiB);
  sample_cursor walk(random, 0);
  std::vector<std::uint64_t> begins;
  const auto measure = [&](std::uint64_t count) {
    return walk.seconds_per_byte(4, 60, [&](std::uint64_t begin) {
      begins.push_back(begin);
      return count;
    });
  };
  EXPECT_GT(measure(3 * MiB), 0);  // 3 steps in each turn, which is 9 MiB for a turn of 8
  EXPECT_GT(measure(2 * MiB), 0);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t step = 0; step < 12; ++step) expected.push_back(step * 3 * MiB % (32 * MiB));
  for (std::uint64_t step = 0; step < 16; ++step) expected.push_back((36 + 2 * step) * MiB % (32 * MiB));
  EXPECT_EQ(begins, expected);
}

TEST(calibration_cuts, are_each_measured_once) {
  std::set<std::pair<std::string, std::string>> measured;
  for (const named_cuts& each : calibration_cuts()) measured.insert({each.name, each.cuts.canonical()});
  EXPECT_EQ(measured.size(), calibration_cuts().size());
  for (const char* const average : {"4K", "8K", "16K"}) {
    const chunker cuts = make_chunker("gear", std::array{parameter_setting{"avg_bytes", average}})->chunker;
    EXPECT_TRUE(measured.contains({"gear", cuts.canonical()})) << average;
  }
}

/// Returns the names of the algorithms that were measured.
std::set<std::string> names_of(const lane_rates& rates) {
  std::set<std::string> names;
  for (const cut_rate& each : rates.cuts) names.insert(each.name);
  return names;
}

void expect_positive(const lane_rates& rates) {
  for (const cut_rate& each : rates.cuts) {
    EXPECT_GT(each.bytes_per_second, 0) << each.cuts;
    EXPECT_TRUE(std::isfinite(each.bytes_per_second)) << each.cuts;
    EXPECT_GE(each.mean_bytes, 1) << each.cuts;
  }
  for (const fingerprint_rate& each : rates.fingerprints) {
    EXPECT_GT(each.bytes_per_second, 0) << static_cast<int>(each.kind) << ' ' << each.chunk_bytes;
    EXPECT_TRUE(std::isfinite(each.bytes_per_second));
  }
}

/// Sizes that the host double of a device can process quickly.
constexpr std::uint64_t tiny_batch = 64 * KiB;
device_sampling tiny_sampling() {
  return {.batch_bytes = tiny_batch,
          .small_bytes = 4 * KiB,
          .turns = 1,
          .most_seconds = 0,
          .chunk_lengths = {2 * KiB, 16 * KiB}};
}

class linked_host_device final : public device_provider {
 public:
  explicit linked_host_device(std::function<status(executor_call)> before = {}) : before_(std::move(before)) {}

  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    return cuda::make_host_offload(options(), cuts, fingerprint, limits, use);
  }
  result<cuda::link_rates> measure_link(int) const override {
    return cuda::link_of<cuda::host_executor>::measure(cuda::host_executor(options()), cuda::host_executor(options()),
                                                       {.copy_bytes = tiny_batch, .samples = 1, .launches = 1});
  }

 private:
  [[nodiscard]] cuda::host_executor_options options() const {
    return {.order = cuda::thread_order::forward(), .before = before_};
  }

  std::function<status(executor_call)> before_;
};

TEST(calibrate, measures_every_name_and_fingerprint_on_the_processor) {
  const auto machine = discover_topology();
  ASSERT_TRUE(machine.ok());
  const auto model = calibrate(*machine);
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->machine, machine_key(*machine, {}));
  EXPECT_GT(model->seconds, 0);
  const std::vector<std::string> names = catalog_names();
  EXPECT_EQ(names_of(model->processor), std::set<std::string>(names.begin(), names.end()));
  expect_positive(model->processor);
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind == fingerprint_kind::none) continue;
    EXPECT_TRUE(std::any_of(model->processor.fingerprints.begin(), model->processor.fingerprints.end(),
                            [&](const fingerprint_rate& each) { return each.kind == info.kind; }))
        << info.name;
  }
  for (const double rate : {model->memory.read_by_one, model->memory.read_by_all, model->memory.copy,
                            model->memory.page_cache, model->together, model->seconds_of_a_chunk}) {
    EXPECT_GT(rate, 0);
    EXPECT_TRUE(std::isfinite(rate));
  }
  EXPECT_LE(model->together, 1);
  EXPECT_TRUE(model->devices.empty());
  for (const std::string& name : names) {
    const job_rates rates = rates_for(*model, job_of(name, fingerprint_kind::sha256));
    EXPECT_GT(rates.processor.chunking, 0) << name;
    EXPECT_GT(predict_plans(rates).at(0).bytes_per_second, 0) << name;
  }
}

TEST(measure_together, needs_no_other_lane_where_there_is_one) { EXPECT_EQ(measure_together(1).value(), 1.0); }

TEST(measure_memory, shares_its_memory_among_more_threads_than_there_are_processors) {
  const auto rates = measure_memory(7, 0);
  ASSERT_TRUE(rates.ok());
  EXPECT_GT(rates->read_by_all, 0);
}

TEST(calibrate_device, measures_what_the_device_does) {
  const device_costs costs = calibrate_device(linked_host_device(), gpu(3, "host"), tiny_sampling());
  EXPECT_EQ(costs.problem, "");
  EXPECT_EQ(costs.index, 3);
  EXPECT_EQ(costs.name, "host");
  EXPECT_EQ(costs.batch_bytes, tiny_batch);
  EXPECT_GT(costs.link_in, 0);
  EXPECT_GT(costs.link_out, 0);
  EXPECT_GE(costs.latency_seconds, 0);
  expect_positive(costs.rates);
  EXPECT_GE(names_of(costs.rates).size(), 20u);
  std::set<std::pair<fingerprint_kind, std::pair<std::uint64_t, std::uint64_t>>> measured;
  for (const fingerprint_rate& each : costs.rates.fingerprints) {
    measured.insert({each.kind, {each.chunk_bytes, each.in_flight}});
    EXPECT_EQ(each.where, backend::cuda);
  }
  for (const fingerprint_kind kind : {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3}) {
    EXPECT_TRUE(measured.contains({kind, {2 * KiB, 32}}));
    EXPECT_TRUE(measured.contains({kind, {2 * KiB, 4}}));
    EXPECT_TRUE(measured.contains({kind, {16 * KiB, 4}}));
  }
  EXPECT_EQ(measured.size(), 9u) << "nothing that a device leaves to the processor";

  cost_model model;
  model.devices = {costs};
  job_costs job = job_of("gear", fingerprint_kind::sha1);
  job.devices = {3};
  EXPECT_EQ(predict_plans(rates_for(model, job)).size(), 3u);
}

TEST(calibrate_device, says_what_failed) {
  for (const executor_call failing : {executor_call::allocate, executor_call::copy_in, executor_call::launch,
                                      executor_call::copy_out, executor_call::wait}) {
    std::atomic<int> calls = 0;
    const linked_host_device device([&](executor_call call) {
      return call == failing && ++calls > 20 ? status(status_code::backend_failure, "planted") : status();
    });
    const device_costs costs = calibrate_device(device, gpu(1, "host"), tiny_sampling());
    EXPECT_EQ(costs.problem, "planted");
    EXPECT_TRUE(costs.rates.cuts.empty());
    EXPECT_EQ(costs.link_in, 0);
  }
}

TEST(calibrate_device, does_without_locked_memory) {
  const linked_host_device device([](executor_call call) {
    return call == executor_call::pin ? status(status_code::memory_limit, "planted") : status();
  });
  EXPECT_EQ(calibrate_device(device, gpu(0, "host"), tiny_sampling()).problem, "");
}

/// An offload that reports fixed times: 2 ms for cutting and 4 ms for fingerprinting. It cuts chunks of 4 KiB, and
/// lacks the memory for those of gear.
class timed_batches final : public cuda::offload {
 public:
  timed_batches(const chunker& cuts, const fingerprint_recipe& fingerprint)
      : has_room_(!cuts.canonical().starts_with("gear(")),
        digest_bytes_(fingerprint.kind == fingerprint_kind::sha1 ? 20 : 0) {}

  status run(const cuda::batch_input& input, cuda::batch_output& output) override {
    if (!has_room_) return {};
    lengths_.assign(input.parts.front().size() / (4 * KiB), 4 * KiB);
    output = {.is_complete = true, .lengths = lengths_, .digests = {}, .stream_ranges = {}, .times = {}};
    output.times.cutting = {.begin = 1, .end = 1.002};
    return {};
  }
  status fingerprint(const cuda::chunk_input& input, cuda::chunk_output& output) override {
    const std::uint64_t bytes = std::accumulate(input.lengths.begin(), input.lengths.end(), std::uint64_t{0});
    EXPECT_EQ(bytes, input.parts.front().size());
    output.times.fingerprinting = {.begin = 1, .end = 1.004};
    return {};
  }
  status pin(void*, std::size_t) override { return {}; }
  void unpin(void*) override {}
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override { return 0; }
  [[nodiscard]] std::size_t digest_bytes() const noexcept override { return digest_bytes_; }
  [[nodiscard]] int numa_node() const noexcept override { return -1; }

 private:
  bool has_room_;
  std::size_t digest_bytes_;
  std::vector<std::uint32_t> lengths_;
};

class timed_device : public device_provider {
 public:
  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits&, cuda::offload_use) const override {
    return std::unique_ptr<cuda::offload>(std::make_unique<timed_batches>(cuts, fingerprint));
  }
  result<cuda::link_rates> measure_link(int) const override {
    return cuda::link_rates{.in = 5e9, .out = 6e9, .in_beside_out = 3e9, .out_beside_in = 4e9, .launch_seconds = 100};
  }
};

TEST(calibrate_device, goes_by_the_clock_of_the_device) {
  const device_costs costs = calibrate_device(timed_device(), gpu(0, "timed"), tiny_sampling());
  EXPECT_EQ(costs.problem, "");
  EXPECT_EQ(costs.link_in, 5e9);
  EXPECT_EQ(costs.link_out, 4e9);
  EXPECT_EQ(costs.latency_seconds, 100) << "no batch takes less than a launch";
  EXPECT_FALSE(names_of(costs.rates).contains("gear"));
  EXPECT_TRUE(names_of(costs.rates).contains("fastcdc"));
  for (const cut_rate& each : costs.rates.cuts) {
    EXPECT_DOUBLE_EQ(each.mean_bytes, 4 * KiB) << each.cuts;
    EXPECT_NEAR(each.bytes_per_second, tiny_batch / 0.002, 1) << each.cuts;
  }
  EXPECT_EQ(costs.rates.fingerprints.size(), 3u);
  for (const fingerprint_rate& each : costs.rates.fingerprints) {
    EXPECT_EQ(each.kind, fingerprint_kind::sha1);
    EXPECT_NEAR(each.bytes_per_second, static_cast<double>(each.chunk_bytes * each.in_flight) / 0.004, 1);
  }
}

/// A provider that can measure a link but has no device.
class no_device final : public device_provider {
 public:
  result<cuda::link_rates> measure_link(int) const override {
    return cuda::link_rates{.in = 1e9, .out_beside_in = 1e9};
  }
  result<std::unique_ptr<cuda::offload>> make(int, const chunker&, const fingerprint_recipe&, const cuda::batch_limits&,
                                              cuda::offload_use) const override {
    return status(status_code::unavailable, "there is none");
  }
};

TEST(calibrate_device, has_a_problem_with_a_device_that_does_nothing) {
  const device_costs costs = calibrate_device(no_device(), gpu(0, "none"), tiny_sampling());
  EXPECT_EQ(costs.problem, "there is none");
  EXPECT_TRUE(costs.rates.cuts.empty());
}

/// A provider whose link cannot be measured, although batches work.
class linkless_device final : public timed_device {
 public:
  result<cuda::link_rates> measure_link(int) const override { return status(status_code::backend_failure, "planted"); }
};

TEST(calibrate_device, has_a_problem_with_a_link_that_cannot_be_measured) {
  const device_costs costs = calibrate_device(linkless_device(), gpu(0, "timed"), tiny_sampling());
  EXPECT_EQ(costs.problem, "planted");
  EXPECT_TRUE(costs.rates.cuts.empty());
}

}  // namespace
}  // namespace cutpoint::tests
