// Tests of the cost model: the rates that are looked up for a job, and the machine that they belong to.
#include <cmath>
#include <set>

#include <cutpoint/cost_model.h>
#include <gtest/gtest.h>

#include "pipeline/costs/calibration.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"

namespace cutpoint::tests {
namespace {

chunker gear(const std::string& settings) { return chunker_of("gear", settings); }
const chunker cuts_8k = gear("avg_bytes=8K");

cost_model example() {
  cost_model model{.machine = "m", .processor_count = 4, .memory = {}, .processor = {}, .devices = {}};
  model.memory = {.read_by_one = 10 * GB, .read_by_all = 25 * GB, .copy = 5 * GB, .page_cache = 6 * GB};
  model.together = 0.7;
  model.seconds_of_a_chunk = 100e-9;
  model.processor.cuts = {
      {.name = "gear", .cuts = cuts_8k.canonical(), .mean_bytes = 8000, .bytes_per_second = 2 * GB}};
  model.processor.fingerprints = {
      {.kind = fingerprint_kind::sha1, .chunk_bytes = 8000, .in_flight = 64, .bytes_per_second = 4 * GB}};
  return model;
}

device_costs example_device(int index) {
  device_costs device{.index = index, .name = "d", .rates = {}, .problem = {}};
  device.link_in = 20 * GB;
  device.link_out = 10 * GB;
  device.pinning = 8 * GB;
  device.latency_seconds = 100e-6;
  device.rates.cuts = {{.name = "gear", .cuts = cuts_8k.canonical(), .mean_bytes = 8192, .bytes_per_second = 500 * GB}};
  device.rates.fingerprints = {{fingerprint_kind::sha1, 8192, 4096, 200 * GB, backend::cuda}};
  return device;
}

feed_options job_of(fingerprint_kind kind = fingerprint_kind::none, std::vector<int> devices = {}) {
  return {.cuts = cuts_8k, .fingerprint = kind, .devices = std::move(devices)};
}

TEST(rates_for, knows_nothing_of_what_was_not_measured) {
  feed_options job = job_of(fingerprint_kind::sha1);
  EXPECT_EQ(rates_for(example(), job, 1).processor.chunking, 2 * GB);
  EXPECT_EQ(rates_for(example(), job, 1).processor.fingerprinting, 4 * GB);
  job.fingerprint = fingerprint_kind::md5;
  EXPECT_EQ(rates_for(example(), job, 1).processor.fingerprinting, 0);
  job.cuts = gear("avg_bytes=16K");
  EXPECT_EQ(rates_for(example(), job, 1).processor.chunking, 0);
  EXPECT_EQ(rates_for({}, job, 1).processor.chunking, 0);
}

TEST(rates_for, takes_of_several_jobs_the_cuts_and_the_fingerprint_of_chunks_as_long) {
  cost_model model = example();
  const chunker cuts_16k = gear("avg_bytes=16K");
  model.processor.cuts.push_back(
      {.name = "gear", .cuts = cuts_16k.canonical(), .mean_bytes = 16000, .bytes_per_second = 3 * GB});
  model.processor.fingerprints.push_back(
      {.kind = fingerprint_kind::sha1, .chunk_bytes = 16100, .bytes_per_second = 5 * GB});
  feed_options job = job_of(fingerprint_kind::sha1);
  EXPECT_EQ(rates_for(model, job, 1).processor.fingerprinting, 4 * GB);
  EXPECT_NEAR(rates_for(model, job, 1).delivery, 80 * GB, 1);
  job.cuts = cuts_16k;
  EXPECT_EQ(rates_for(model, job, 1).processor.chunking, 3 * GB);
  EXPECT_EQ(rates_for(model, job, 1).processor.fingerprinting, 5 * GB);
  EXPECT_NEAR(rates_for(model, job, 1).delivery, 160 * GB, 1);
}

TEST(rates_for, has_lanes_slow_each_other_down) {
  const auto chunking_of = [&](std::uint64_t lanes) {
    return rates_for(example(), job_of(), lanes).processor.chunking / GB;
  };
  EXPECT_NEAR(chunking_of(1), 2, 1e-9);
  EXPECT_NEAR(chunking_of(3), 2 * 0.8, 1e-9);
  EXPECT_NEAR(chunking_of(4), 2 * 0.7, 1e-9);
  EXPECT_NEAR(chunking_of(8), 2 * 0.35, 1e-9) << "two lanes take turns on a processor";
}

TEST(rates_for, knows_memory_and_what_lanes_do_one_at_a_time) {
  const job_rates rates = rates_for(example(), job_of(), 2);
  EXPECT_EQ(rates.processor.lane_count, 2u);
  EXPECT_EQ(rates.processor.memory, 20 * GB);
  EXPECT_EQ(rates_for(example(), job_of(), 4).processor.memory, 25 * GB);
  EXPECT_EQ(rates.reading, 6 * GB);
  EXPECT_NEAR(rates.delivery, 80 * GB, 1);
}

TEST(rates_for, has_the_devices_that_may_be_used_and_do_the_job) {
  cost_model model = example();
  model.devices = {example_device(0), example_device(1), {.index = 2, .name = "lost", .rates = {}, .problem = "gone"}};
  const auto device_count = [&](const feed_options& job) { return rates_for(model, job, 1).devices.size(); };
  feed_options job = job_of(fingerprint_kind::sha1);
  EXPECT_EQ(device_count(job), 0u);
  job.devices = {0, 1, 2, 3};
  EXPECT_EQ(device_count(job), 2u);
  EXPECT_TRUE(rates_for(model, job, 1).devices_can_cut);
  job.fingerprint = fingerprint_kind::md5;
  EXPECT_EQ(device_count(job), 0u) << "its kernels do not make it";
  job.fingerprint = fingerprint_kind::sha1;
  job.cuts = gear("avg_bytes=8192,max_bytes=263168");
  EXPECT_EQ(device_count(job), 0u) << "a chunk would keep one thread busy for long";
  job.fingerprint = fingerprint_kind::none;
  EXPECT_EQ(device_count(job), 0u) << "its kernels do not cut so";
}

TEST(rates_for, has_a_device_without_a_cut_kernel_only_fingerprint) {
  cost_model model = example();
  model.devices = {example_device(0)};
  model.devices[0].rates.cuts.clear();
  const job_rates rates = rates_for(model, job_of(fingerprint_kind::sha1, {0}), 1);
  EXPECT_EQ(rates.devices.size(), 1u);
  EXPECT_FALSE(rates.devices_can_cut);
  EXPECT_EQ(prediction_of(predict_plans(rates), work_plan::device), nullptr);
}

TEST(rates_for, chooses_batches_by_their_latency_and_the_memory) {
  cost_model model = example();
  model.devices = {example_device(0)};
  feed_options job = job_of(fingerprint_kind::none, {0});
  const auto batch_bytes = [&] { return rates_for(model, job, 1).devices.at(0).batch_bytes; };
  const device_rates rates = rates_for(model, job, 1).devices.at(0);
  const double seconds_a_byte = 1 / rates.link_in + 1 / rates.chunking + rates.out_share / rates.link_out;
  const auto share_at = [&](std::uint64_t bytes) {
    return rates.latency_seconds / (rates.latency_seconds + static_cast<double>(bytes) * seconds_a_byte);
  };
  EXPECT_EQ(rates.batch_bytes % MiB, 0u);
  EXPECT_LE(share_at(rates.batch_bytes), 0.05);
  EXPECT_GT(share_at(rates.batch_bytes - 1 * MiB), 0.05);
  EXPECT_EQ(rates.pinning, 8 * GB);
  EXPECT_NEAR(rates.out_share, 4.0 / 8000, 1e-12);
  EXPECT_NEAR(rates_for(model, job_of(fingerprint_kind::sha1, {0}), 1).devices.at(0).out_share, 24.0 / 8000, 1e-12);
  job.device_memory_bytes = 240 * MiB;  // three lanes, each needing eight bytes of memory for each byte of a batch
  EXPECT_EQ(batch_bytes(), 10 * MiB);
  job.device_memory_bytes = 0;
  EXPECT_EQ(batch_bytes(), 1 * MiB);
  model.devices[0].latency_seconds = 1e9;
  job.device_memory_bytes = ~std::uint64_t{0};
  EXPECT_EQ(batch_bytes(), 1 * GiB);
  model.devices[0].latency_seconds = 0;
  EXPECT_EQ(batch_bytes(), 1 * MiB);
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
        +[](topology&m, gpu_info&) { m.processor_count = 4; }, +[](topology&m, gpu_info&) { m.cpu_quota = 0.5; },
        +[](topology&m, gpu_info&) { m.caches.emplace_back().level = 3; },
        +[](topology&m, gpu_info&) { m.instruction_sets.emplace_back("avx512f"); },
        +[](topology&m, gpu_info&) { m.processor_model += "Q"; }}) {
    topology other = machine;
    std::vector<gpu_info> others = gpus;
    change(other, others[0]);
    EXPECT_TRUE(keys.insert(machine_key(other, others)).second);
  }
}

// Tests of calibration on this machine: it ends and measures everything. No speed is asserted.

TEST(calibrate, measures_the_job_on_the_processor) {
  const topology machine = discover_topology();
  // Ordinary cuts, chunks of megabytes, and cuts that read nothing.
  for (const auto& [name, kind] :
       {std::pair("fastcdc", fingerprint_kind::sha256), std::pair("pbs", fingerprint_kind::md5),
        std::pair("fixed", fingerprint_kind::none)}) {
    const feed_options job{.cuts = chunker_of(name), .fingerprint = kind};
    const auto model = value_of(calibrate(machine, {}, job));
    EXPECT_EQ(model.machine, machine_key(machine, {}));
    EXPECT_GT(model.seconds, 0);
    EXPECT_EQ(model.processor.cuts.at(0).cuts, job.cuts.canonical());
    EXPECT_GE(model.processor.cuts.at(0).mean_bytes, 1);
    EXPECT_EQ(model.processor.fingerprints.size(), kind == fingerprint_kind::none ? 0u : 1u);
    for (const double rate :
         {model.memory.read_by_one, model.memory.read_by_all, model.memory.copy, model.memory.page_cache,
          model.together, model.seconds_of_a_chunk, model.processor.cuts.at(0).bytes_per_second}) {
      EXPECT_GT(rate, 0);
      EXPECT_TRUE(std::isfinite(rate));
    }
    EXPECT_LE(model.together, 1);
    EXPECT_TRUE(model.devices.empty());
    const job_rates rates = rates_for(model, job, 2);
    EXPECT_GT(rates.processor.chunking, 0) << name;
    EXPECT_EQ(rates.processor.fingerprinting > 0, kind != fingerprint_kind::none) << name;
    EXPECT_GT(predict_plans(rates).at(0).bytes_per_second, 0) << name;
  }
}

TEST(measure_together, needs_no_other_lane_where_there_is_one) { EXPECT_EQ(measure_together(1).value(), 1.0); }

TEST(measure_memory, shares_its_memory_among_more_threads_than_there_are_processors) {
  EXPECT_GT(value_of(measure_memory(7, 0)).read_by_all, 0);
}

}  // namespace
}  // namespace cutpoint::tests
