// Measures the processor, then the devices.
#include <algorithm>
#include <chrono>
#include <memory>

#include <cutpoint/cost_model.h>
#include <cutpoint/speed.h>

#include "pipeline/costs/device_calibration.h"
#include "pipeline/costs/memory_calibration.h"

namespace cutpoint {

namespace {

constexpr std::uint64_t block_bytes = 8 * MiB;
/// Cuts are measured on more than the caches have: where lanes are what a feed waits for, the ring is full of bytes that
/// were read long ago. Algorithms that look at few bytes of each chunk would find those in a cache.
constexpr std::uint64_t least_blocks = 4;
constexpr std::uint64_t most_blocks = 32;
constexpr int repetitions = 3;
constexpr measuring_effort short_effort = {.least_seconds = 2e-3, .most_seconds = 20e-3};

double best_rate(const timed_work& work, std::uint64_t bytes) {
  double best = 0;
  for (int i = 0; i < repetitions; ++i) best = std::max(best, rate_of(work, bytes, short_effort));
  return best;
}

std::uint64_t largest_cache(const topology& machine) {
  std::uint64_t bytes = 0;
  for (const cache_info& cache : machine.caches) bytes = std::max(bytes, cache.bytes);
  return bytes;
}

status measure_cuts_and_fingerprints(const feed_options& job, std::uint64_t cache_bytes, lane_rates& rates) {
  const auto cuts = chunker_on(job.cuts, backend::automatic);
  if (!cuts) return cuts.error();
  const aligned_bytes block = aligned_bytes::random(block_bytes);
  const auto chunks = std::make_shared<const std::vector<chunk>>(cuts->find_cuts(block.view()));
  const std::uint64_t mean_bytes = block_bytes / chunks->size();
  const std::uint64_t block_count = std::clamp(2 * cache_bytes / block_bytes, least_blocks, most_blocks);
  const aligned_bytes sample = aligned_bytes::copy(std::vector<byte_span>(block_count, block.view()));
  const std::string canonical = cuts->canonical();
  rates.cuts = {{.name = canonical.substr(0, canonical.find('(')),
                 .cuts = canonical,
                 .mean_bytes = static_cast<double>(mean_bytes),
                 .bytes_per_second = best_rate(cutting_work(*cuts, sample.view()), sample.view().size()),
                 .where = backend_of(*cuts)}};
  if (job.fingerprint.kind == fingerprint_kind::none) return {};
  auto chosen = fingerprints_on(job.fingerprint, backend::automatic);
  if (!chosen) return chosen.error();
  std::vector<digest> digests(chunks->size());
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    chosen->batch->submit(block.view().subspan((*chunks)[i].offset, (*chunks)[i].length), digests[i]);
  }
  if (status flushed = chosen->batch->flush(); !flushed.ok()) return flushed;
  rates.fingerprints = {
      {.kind = job.fingerprint.kind,
       .chunk_bytes = mean_bytes,
       .in_flight = std::max<std::uint64_t>(1, work_block_bytes / mean_bytes),
       .bytes_per_second = best_rate(hashing_work(std::move(chosen->batch), block.view(), chunks), block_bytes),
       .where = chosen->where}};
  return {};
}

}  // namespace

result<cost_model> calibrate(const topology& machine, const std::vector<gpu_info>& gpus, const feed_options& job) {
  const auto begin = std::chrono::steady_clock::now();
  cost_model model{.machine = machine_key(machine, gpus),
                   .processor_count = std::max<std::uint64_t>(1, machine.usable_processor_count),
                   .memory = {},
                   .processor = {},
                   .devices = {}};
  const auto memory = measure_memory(model.processor_count, largest_cache(machine));
  if (!memory) return memory.error();
  model.memory = *memory;
  const auto together = measure_together(model.processor_count);
  if (!together) return together.error();
  model.together = *together;
  model.seconds_of_a_chunk = measure_index();
  if (status outcome = measure_cuts_and_fingerprints(job, largest_cache(machine), model.processor); !outcome.ok()) {
    return outcome;
  }
  const device_provider cuda;
  for (const gpu_info& gpu : gpus) {
    if (!gpu.problem.empty()) continue;
    model.devices.push_back(calibrate_device(cuda, gpu, job, model.processor.cuts.front().mean_bytes, {}));
  }
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

std::vector<gpu_info> gpus_to_measure(const feed_options& job) {
  if (job.where != backend::automatic && job.where != backend::hybrid) return {};
  const auto all = gpus();
  const auto can_be_used = [](const gpu_info& gpu) { return gpu.problem.empty(); };
  return all && std::any_of(all->begin(), all->end(), can_be_used) ? *all : std::vector<gpu_info>();
}

result<std::shared_ptr<const job_rates>> measure_rates(const feed_options& job, std::uint64_t thread_count) {
  std::shared_ptr<const job_rates> rates;
  const std::vector<gpu_info> devices = gpus_to_measure(job);
  if (devices.empty()) return rates;
  const auto machine = discover_topology();
  if (!machine) return machine.error();
  const auto costs = calibrate(*machine, devices, job);
  if (!costs) return costs.error();
  rates = std::make_shared<const job_rates>(rates_for(*costs, job, thread_count));
  return rates;
}

}  // namespace cutpoint
