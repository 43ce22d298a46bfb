// The processor's part, then the devices'.
#include <algorithm>
#include <array>

#include <cutpoint/catalog.h>
#include <cutpoint/cost_model.h>

#include "pipeline/device_calibration.h"
#include "pipeline/memory_calibration.h"
#include "pipeline/timed_turns.h"

namespace cutpoint {

namespace {

/// More than a core's own caches: chunks come from what has just been read, which is where all cores find it.
constexpr std::uint64_t sample_bytes = 8 * MiB;
constexpr turn_plan turns = {.sample_bytes = sample_bytes, .turns = 5, .turn_seconds = 1e-3};
/// Cut to learn the mean length of chunks.
constexpr std::uint64_t mean_sample_bytes = 4 * MiB;
constexpr std::uint64_t enough_chunks = 128;
/// Beside each algorithm's own.
constexpr std::array<const char*, 3> averages = {"4K", "8K", "16K"};
constexpr std::array<std::uint64_t, 4> chunk_lengths = {2 * KiB, 8 * KiB, 64 * KiB, 1 * MiB};
constexpr std::array<std::uint64_t, 4> numbers_in_flight = {1, 8, 64, 256};

struct named_cuts {
  std::string name;
  chunker cuts;
};

/// Every name at its own sizes, and the algorithms at others that they take.
std::vector<named_cuts> measured_cuts() {
  std::vector<named_cuts> all;
  for (const catalog_entry& entry : catalog()) {
    all.push_back({std::string(entry.name), entry.defaults});
    if (entry.kind != entry_kind::algorithm || entry.algorithm == "fixed") continue;
    for (const char* const average : averages) {
      const auto made = make_chunker(entry.name, std::array{parameter_setting{"avg_bytes", average}});
      if (made && made->chunker.canonical() != entry.defaults.canonical()) {
        all.push_back({std::string(entry.name), made->chunker});
      }
    }
  }
  return all;
}

double mean_of_chunks(const chunker& cuts, byte_span sample) {
  std::uint64_t at = 0;
  std::uint64_t chunks = 0;
  while (at < sample.size() && chunks < enough_chunks) {
    at += *cuts.next_cut({.bytes = sample, .start = at, .at_end = true});
    ++chunks;
  }
  return static_cast<double>(at) / static_cast<double>(chunks);
}

result<cut_rate> measure_cuts(const named_cuts& of, byte_span sample) {
  const auto placed = chunker_on(of.cuts, backend::automatic);
  if (!placed) return placed.error();
  const double cost = seconds_per_byte(turns, [&](std::uint64_t begin) {
    return begin + *placed->next_cut({.bytes = sample, .start = begin, .at_end = true});
  });
  return cut_rate{.name = of.name,
                  .cuts = of.cuts.canonical(),
                  .mean_bytes = mean_of_chunks(*placed, sample),
                  .bytes_per_second = 1 / cost,
                  .where = backend_of(*placed)};
}

/// One after the other each takes as long as alone; in lanes a number of them may take no longer than one.
status measure_fingerprints(fingerprint_kind kind, byte_span sample, std::vector<fingerprint_rate>& into) {
  auto placed = fingerprints_on(kind, backend::automatic);
  if (!placed) return placed.error().code() == status_code::unavailable ? status() : placed.error();
  std::vector<digest> made(numbers_in_flight.back());
  for (const std::uint64_t length : chunk_lengths) {
    for (const std::uint64_t number : numbers_in_flight) {
      if (length * number > sample_bytes || (number > 1 && placed->where == backend::scalar)) break;
      status outcome;
      const double cost = seconds_per_byte(turns, [&](std::uint64_t begin) {
        for (std::uint64_t i = 0; i < number; ++i, begin += length) {
          placed->batch->submit(sample.subspan(begin, length), made[i]);
        }
        if (status flushed = placed->batch->flush(); !flushed.ok()) outcome = flushed;
        return begin;
      });
      if (!outcome.ok()) return outcome;
      into.push_back({kind, length, number, 1 / cost, placed->where});
    }
  }
  return {};
}

std::uint64_t largest_cache(const topology& machine) {
  std::uint64_t bytes = 0;
  for (const cache_info& cache : machine.caches) bytes = std::max(bytes, cache.bytes);
  return bytes;
}

status measure_processor(const topology& machine, byte_span sample, cost_model& into) {
  const auto memory = measure_memory(into.processor_count, largest_cache(machine));
  if (!memory) return memory.error();
  into.memory = *memory;
  const auto together = measure_together(into.processor_count);
  if (!together) return together.error();
  into.together = *together;
  into.seconds_of_a_chunk = measure_index();
  for (const named_cuts& each : measured_cuts()) {
    const auto rate = measure_cuts(each, sample);
    if (!rate) return rate.error();
    into.processor.cuts.push_back(*rate);
  }
  for (const fingerprint_info& each : fingerprints()) {
    if (each.kind == fingerprint_kind::none) continue;
    if (status done = measure_fingerprints(each.kind, sample, into.processor.fingerprints); !done.ok()) return done;
  }
  return {};
}

}  // namespace

double sampled_chunk_bytes(const chunker& cuts) {
  static const std::vector<std::uint8_t> sample = random_bytes(mean_sample_bytes);
  const auto by = chunker_on(cuts, widest_backend());
  return mean_of_chunks(by ? *by : cuts, sample);
}

result<cost_model> calibrate(const topology& machine, const calibration_options& options) {
  const auto begin = std::chrono::steady_clock::now();
  cost_model made{.machine = machine_key(machine, options.gpus),
                  .processor_count = std::max<std::uint64_t>(1, machine.processor_count),
                  .memory = {},
                  .processor = {},
                  .devices = {}};
  const std::vector<std::uint8_t> sample = random_bytes(sample_bytes);
  if (status done = measure_processor(machine, sample, made); !done.ok()) return done;
  const device_provider cuda;
  for (const gpu_info& gpu : options.gpus) {
    if (!gpu.problem.empty()) continue;
    made.devices.push_back(calibrate_device(options.devices ? *options.devices : cuda, gpu, {}));
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

}  // namespace cutpoint
