// Costs: what is looked up for a job, and that calibration ends and leaves out nothing, on this machine and on a device for
// which the host stands in. No speed is asserted.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include <cutpoint/cost_model.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/device_calibration.h"
#include "pipeline/memory_calibration.h"
#include "pipeline/timed_turns.h"
#include "tests/cuda/support/host_offload.h"
#include "tests/host/made.h"

namespace cutpoint::tests {
namespace {

using cuda::machine_call;

constexpr double GB = 1e9;

cut_rate cut_at(const chunker& cuts, double mean_bytes, double rate) {
  return {.name = "x", .cuts = cuts.canonical(), .mean_bytes = mean_bytes, .bytes_per_second = rate};
}

chunker gear(const std::string& average) { return made("gear", "avg_bytes=" + average); }

cost_model example() {
  cost_model model{.machine = "m", .processor_count = 4, .memory = {}, .processor = {}, .devices = {}};
  model.memory = {.read_by_one = 10 * GB, .read_by_all = 25 * GB, .copy = 5 * GB, .page_cache = 6 * GB};
  model.together = 0.7;
  model.seconds_of_a_chunk = 100e-9;
  model.processor.cuts = {cut_at(gear("4K"), 4096, 1 * GB), cut_at(gear("8K"), 8192, 2 * GB),
                          cut_at(gear("1M"), 1048576, 3 * GB), cut_at(made("ram"), 8192, 20 * GB)};
  for (const auto& [length, number, rate] :
       {std::tuple(2048, 1, 1.0), std::tuple(2048, 64, 4.0), std::tuple(32768, 1, 2.0), std::tuple(32768, 64, 8.0)}) {
    model.processor.fingerprints.push_back({.kind = fingerprint_kind::sha1,
                                            .chunk_bytes = static_cast<std::uint64_t>(length),
                                            .in_flight = static_cast<std::uint64_t>(number),
                                            .bytes_per_second = rate * GB});
  }
  return model;
}

device_costs example_device(int index) {
  device_costs device{.index = index, .name = "d", .rates = {}, .problem = {}};
  device.link_in = 20 * GB;
  device.link_out = 10 * GB;
  device.latency_seconds = 100e-6;
  device.rates.cuts = {cut_at(gear("8K"), 8192, 500 * GB)};
  device.rates.fingerprints = {{fingerprint_kind::sha1, 8192, 512, 50 * GB, backend::cuda},
                               {fingerprint_kind::sha1, 8192, 4096, 200 * GB, backend::cuda}};
  return device;
}

job_costs job_of(const chunker& cuts, double mean, fingerprint_kind kind = fingerprint_kind::none) {
  return {.cuts = cuts, .fingerprint = kind, .mean_chunk_bytes = mean, .devices = {}};
}

TEST(rates_for, finds_the_very_cuts) {
  EXPECT_EQ(rates_for(example(), job_of(gear("4K"), 1e6)).processor.chunking, 1 * GB);
  EXPECT_EQ(rates_for(example(), job_of(made("ram"), 8192)).processor.chunking, 20 * GB);
}

TEST(rates_for, takes_the_same_algorithm_at_the_nearest_mean_length) {
  EXPECT_EQ(rates_for(example(), job_of(gear("16K"), 16384)).processor.chunking, 2 * GB);
  EXPECT_EQ(rates_for(example(), job_of(gear("512K"), 524288)).processor.chunking, 3 * GB);
  EXPECT_EQ(rates_for(example(), job_of(gear("256"), 256)).processor.chunking, 1 * GB);
}

TEST(rates_for, knows_nothing_of_an_algorithm_that_was_not_measured) {
  EXPECT_EQ(rates_for(example(), job_of(made("rabin"), 8192)).processor.chunking, 0);
  EXPECT_EQ(rates_for(example(), job_of(gear("8K"), 8192, fingerprint_kind::md5)).processor.fingerprinting, 0);
  EXPECT_EQ(rates_for({}, job_of(gear("8K"), 8192, fingerprint_kind::sha1)).processor.fingerprinting, 0);
}

/// Of SHA-1, on one lane, which makes the fingerprints of 2 MiB together.
double fingerprinting_at(double mean) {
  return rates_for(example(), job_of(gear("8K"), mean, fingerprint_kind::sha1)).processor.fingerprinting;
}

TEST(rates_for, interpolates_fingerprints_between_the_lengths_and_numbers_that_were_measured) {
  EXPECT_NEAR(fingerprinting_at(2048) / GB, 4, 1e-9);                 // 1024 in flight: as 64
  EXPECT_NEAR(fingerprinting_at(8192) / GB, 4 * std::sqrt(2), 1e-9);  // halfway from 2K to 32K
  EXPECT_NEAR(fingerprinting_at(32768) / GB, 8, 1e-9);                // 64 in flight
  EXPECT_NEAR(fingerprinting_at(100) / GB, 4, 1e-9);                  // shorter than all that was measured
  EXPECT_NEAR(fingerprinting_at(262144) / GB, 4, 1e-9);               // 8 in flight: halfway from 1 to 64
  EXPECT_NEAR(fingerprinting_at(1e9) / GB, 2, 1e-9);                  // one
}

TEST(rates_for, has_lanes_slow_each_other_down) {
  job_costs job = job_of(gear("8K"), 8192);
  const auto chunking_of = [&](std::uint64_t lanes) {
    job.thread_count = lanes;
    return rates_for(example(), job).processor.chunking / GB;
  };
  EXPECT_NEAR(chunking_of(1), 2, 1e-9);
  EXPECT_NEAR(chunking_of(3), 2 * 0.8, 1e-9);
  EXPECT_NEAR(chunking_of(4), 2 * 0.7, 1e-9);
  EXPECT_NEAR(chunking_of(8), 2 * 0.35, 1e-9) << "two lanes take turns on a processor";
}

TEST(rates_for, knows_memory_and_what_lanes_do_one_at_a_time) {
  job_costs job = job_of(gear("8K"), 8000);
  job.thread_count = 2;
  const job_rates rates = rates_for(example(), job);
  EXPECT_EQ(rates.processor.lane_count, 2u);
  EXPECT_EQ(rates.processor.memory, 20 * GB);
  job.thread_count = 4;
  EXPECT_EQ(rates_for(example(), job).processor.memory, 25 * GB);
  EXPECT_EQ(rates.reading, 6 * GB);
  EXPECT_NEAR(rates.delivery, 80 * GB, 1);
}

TEST(rates_for, has_the_devices_that_may_be_used_and_do_the_job) {
  cost_model model = example();
  model.devices = {example_device(0), example_device(1), {.index = 2, .name = "lost", .rates = {}, .problem = "gone"}};
  job_costs job = job_of(gear("8K"), 8192, fingerprint_kind::sha1);
  EXPECT_TRUE(rates_for(model, job).devices.empty());
  job.devices = {0, 1, 2, 3};
  EXPECT_EQ(rates_for(model, job).devices.size(), 2u);
  job.fingerprint = fingerprint_kind::md5;
  EXPECT_TRUE(rates_for(model, job).devices.empty()) << "its kernels do not make it";
  job.fingerprint = fingerprint_kind::none;
  EXPECT_EQ(rates_for(model, job).devices.size(), 2u);
  job.cuts = made("ram");
  EXPECT_TRUE(rates_for(model, job).devices.empty()) << "its kernels do not cut so";
}

TEST(rates_for, chooses_batches_by_their_latency_and_the_memory) {
  cost_model model = example();
  model.devices = {example_device(0)};
  job_costs job = job_of(gear("8K"), 8192);
  job.devices = {0};
  const device_rates rates = rates_for(model, job).devices.at(0);
  const double seconds_a_byte = 1 / rates.link_in + 1 / rates.chunking + rates.out_share / rates.link_out;
  const auto share_at = [&](std::uint64_t bytes) {
    return rates.latency_seconds / (rates.latency_seconds + static_cast<double>(bytes) * seconds_a_byte);
  };
  EXPECT_EQ(rates.batch_bytes % MiB, 0u);
  EXPECT_LE(share_at(rates.batch_bytes), 0.05);
  EXPECT_GT(share_at(rates.batch_bytes - 1 * MiB), 0.05);
  EXPECT_NEAR(rates.out_share, 4.0 / 8192, 1e-12);
  job.device_memory_bytes = 240 * MiB;  // for three lanes, eight bytes for each
  EXPECT_EQ(rates_for(model, job).devices.at(0).batch_bytes, 10 * MiB);
  job.device_memory_bytes = 0;
  EXPECT_EQ(rates_for(model, job).devices.at(0).batch_bytes, 1 * MiB);
  model.devices[0].latency_seconds = 1e9;
  job.device_memory_bytes = ~std::uint64_t{0};
  EXPECT_EQ(rates_for(model, job).devices.at(0).batch_bytes, 1 * GiB);
  model.devices[0].latency_seconds = 0;
  EXPECT_EQ(rates_for(model, job).devices.at(0).batch_bytes, 1 * MiB);
}

TEST(rates_for, has_the_device_fingerprint_as_fast_as_its_batches_allow) {
  cost_model model = example();
  model.devices = {example_device(0)};
  job_costs job = job_of(gear("8K"), 8192, fingerprint_kind::sha1);
  job.devices = {0};
  job.device_memory_bytes = 4 * MiB * 24;
  EXPECT_EQ(rates_for(model, job).devices.at(0).batch_bytes, 4 * MiB);
  EXPECT_NEAR(rates_for(model, job).devices.at(0).fingerprinting / GB, 50, 1e-9);
  job.device_memory_bytes = 1 * GiB;
  EXPECT_GT(rates_for(model, job).devices.at(0).fingerprinting, 100 * GB);
  EXPECT_NEAR(rates_for(model, job).devices.at(0).out_share, 24.0 / 8192, 1e-12);
}

gpu_info gpu(int index, const std::string& name) {
  gpu_info made;
  made.index = index;
  made.name = name;
  return made;
}

TEST(machine_key, tells_machines_and_their_devices_apart) {
  const topology machine;
  const std::vector<gpu_info> gpus = {gpu(0, "G")};
  std::set<std::string> keys = {machine_key(machine, {}), machine_key(machine, gpus)};
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_TRUE(keys.contains(machine_key(machine, gpus))) << "the same machine has the same key";
  for (const auto change :
       {+[](topology&, gpu_info&g) { g.pci_bus_id += "0000:18:00.0"; },
        +[](topology&, gpu_info&g) { g.driver_version += "13.1"; }, +[](topology&, gpu_info&g) { g.name += "H"; },
        +[](topology&m, gpu_info&) { m.processor_count = 4; },
        +[](topology&m, gpu_info&) { m.caches.emplace_back().level = 3; },
        +[](topology&m, gpu_info&) { m.instruction_sets.emplace_back("avx512f"); },
        +[](topology&m, gpu_info&) { m.processor_model += "Q"; }}) {
    topology other = machine;
    std::vector<gpu_info> others = gpus;
    change(other, others[0]);
    EXPECT_TRUE(keys.insert(machine_key(other, others)).second);
  }
}

TEST(sampled_chunk_bytes, is_about_what_was_asked_for) {
  EXPECT_EQ(sampled_chunk_bytes(made("fixed", "avg_bytes=1000")), 1000);
  const double mean = sampled_chunk_bytes(made("fastcdc", "avg_bytes=8K"));
  EXPECT_GT(mean, 4000);
  EXPECT_LT(mean, 16000);
  EXPECT_EQ(sampled_chunk_bytes(made("fixed", "avg_bytes=1G")), static_cast<double>(4 * MiB));
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

/// Names of the cuts that were measured.
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

/// Of the host as a device, by batches that it gets through.
constexpr std::uint64_t tiny_batch = 64 * KiB;
device_sampling tiny_sampling() {
  return {.batch_bytes = tiny_batch, .small_bytes = 4 * KiB, .turns = 1, .chunk_lengths = {2 * KiB, 16 * KiB}};
}

class host_device final : public device_provider {
 public:
  explicit host_device(std::function<status(machine_call)> before = {}) : before_(std::move(before)) {}

  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    return cuda::make_host_offload({.order = cuda::thread_order::forward(), .before = before_}, cuts, fingerprint,
                                   limits, use);
  }

 private:
  std::function<status(machine_call)> before_;
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
    const job_rates rates = rates_for(*model, job_of(made(name), 8192, fingerprint_kind::sha256));
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
  const device_costs costs = calibrate_device(host_device(), gpu(3, "host"), tiny_sampling());
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

  cost_model model = example();
  model.devices = {costs};
  job_costs job = job_of(gear("8K"), 8192, fingerprint_kind::sha1);
  job.devices = {3};
  EXPECT_EQ(predict_plans(rates_for(model, job)).size(), 4u);
}

TEST(calibrate_device, says_what_failed) {
  for (const machine_call failing : {machine_call::allocate, machine_call::copy_in, machine_call::launch,
                                     machine_call::copy_out, machine_call::wait}) {
    std::atomic<int> calls = 0;
    const host_device device([&](machine_call call) {
      return call == failing && ++calls > 20 ? status(status_code::backend_failure, "planted") : status();
    });
    const device_costs costs = calibrate_device(device, gpu(1, "host"), tiny_sampling());
    EXPECT_EQ(costs.problem, "planted");
    EXPECT_TRUE(costs.rates.cuts.empty());
    EXPECT_EQ(costs.link_in, 0);
  }
}

TEST(calibrate_device, does_without_locked_memory) {
  const host_device device([](machine_call call) {
    return call == machine_call::pin ? status(status_code::memory_limit, "planted") : status();
  });
  EXPECT_EQ(calibrate_device(device, gpu(0, "host"), tiny_sampling()).problem, "");
}

/// No device at all.
class no_device final : public device_provider {
 public:
  result<std::unique_ptr<cuda::offload>> make(int, const chunker&, const fingerprint_recipe&, const cuda::batch_limits&,
                                              cuda::offload_use) const override {
    return status(status_code::unavailable, "there is none");
  }
};

TEST(calibrate_device, has_a_problem_with_a_device_that_does_nothing) {
  const device_costs costs = calibrate_device(no_device(), gpu(0, "none"), tiny_sampling());
  EXPECT_NE(costs.problem, "");
  EXPECT_TRUE(costs.rates.cuts.empty());
}

}  // namespace
}  // namespace cutpoint::tests
