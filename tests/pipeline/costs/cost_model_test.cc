// Tests of the cost model: the rates that are looked up for a job, and the machine that they belong to.
#include <cmath>
#include <set>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/made.h"
#include "tests/pipeline/support/gpus.h"

namespace cutpoint::tests {
namespace {

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

/// Returns the rate of SHA-1 on one lane for a mean chunk size. A lane fingerprints 2 MiB at a time.
double fingerprinting_at(double mean) {
  return rates_for(example(), job_of(gear("8K"), mean, fingerprint_kind::sha1)).processor.fingerprinting;
}

TEST(rates_for, interpolates_fingerprints_between_the_lengths_and_numbers_that_were_measured) {
  EXPECT_NEAR(fingerprinting_at(2048) / GB, 4, 1e-9);                 // 1024 in flight, which counts as 64
  EXPECT_NEAR(fingerprinting_at(8192) / GB, 4 * std::sqrt(2), 1e-9);  // halfway from 2K to 32K
  EXPECT_NEAR(fingerprinting_at(32768) / GB, 8, 1e-9);                // 64 in flight
  EXPECT_NEAR(fingerprinting_at(100) / GB, 4, 1e-9);                  // shorter than any length that was measured
  EXPECT_NEAR(fingerprinting_at(262144) / GB, 4, 1e-9);               // 8 in flight: halfway from 1 to 64
  EXPECT_NEAR(fingerprinting_at(1e9) / GB, 2, 1e-9);                  // one in flight
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
  job.fingerprint = fingerprint_kind::sha1;
  job.cuts = made("gear", "avg_bytes=8192,max_bytes=263168");
  EXPECT_TRUE(rates_for(model, job).devices.empty()) << "a chunk would keep one thread busy for long";
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
  job.device_memory_bytes = 240 * MiB;  // three lanes, each needing eight bytes of memory for each byte of a batch
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

}  // namespace
}  // namespace cutpoint::tests
