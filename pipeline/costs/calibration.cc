// The processor's part, then the devices'.
#include <algorithm>
#include <array>

#include <cutpoint/cost_model.h>
#include <cutpoint/cut_cursor.h>

#include "pipeline/backends/repeated_timing.h"
#include "pipeline/backends/sample_cursor.h"
#include "pipeline/costs/calibration_cuts.h"
#include "pipeline/costs/device_calibration.h"
#include "pipeline/costs/memory_calibration.h"

namespace cutpoint {

namespace {

/// More than a core's own caches.
constexpr std::uint64_t kernel_sample_bytes = 8 * MiB;
constexpr int kernel_turns = 5;
constexpr double turn_seconds = 1e-3;
/// At least, in a turn: the shortest turn of a single chunk each would be that of the shortest chunk, in which more of the
/// bytes are passed over.
constexpr int chunks_at_once = 16;
/// Of what was just cut, and so is in some cache. Cuts are of what is in none: where lanes are what a feed waits for, the
/// ring is full of bytes that wait for them.
constexpr timing_options fingerprint_turns = {
    .sample_bytes = kernel_sample_bytes, .turns = kernel_turns, .turn_seconds = turn_seconds};
/// Cut to learn the mean length of chunks.
constexpr std::uint64_t mean_sample_bytes = 4 * MiB;
constexpr std::uint64_t enough_chunks = 128;
constexpr std::array<std::uint64_t, 4> numbers_in_flight = {1, 8, 64, 256};

double mean_of_chunks(const chunker& cuts, byte_span sample) {
  std::uint64_t position = 0;
  std::uint64_t chunks = 0;
  while (position < sample.size() && chunks < enough_chunks) {
    position += *cuts.next_cut({.bytes = sample, .start = position, .at_end = true});
    ++chunks;
  }
  return static_cast<double>(position) / static_cast<double>(chunks);
}

result<cut_rate> measure_cuts(const named_cuts& named, sample_cursor& sample) {
  const auto placed = chunker_on(named.cuts, backend::automatic);
  if (!placed) return placed.error();
  const double usual_bytes = chunks_at_once * sampled_chunk_bytes(named.cuts);
  const double most_turns = static_cast<double>(sample.bytes().size()) / usual_bytes;
  const int turn_count = static_cast<int>(std::clamp(most_turns, 1.0, static_cast<double>(kernel_turns)));
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  cut_cursor cursor(*placed);
  const double cost = sample.seconds_per_byte(turn_count, turn_seconds, [&](std::uint64_t begin) {
    std::uint64_t done = 0;
    for (int i = 0; i < chunks_at_once; ++i) {
      const std::uint64_t start = (begin + done) % sample.bytes().size();
      done += *cursor.next_cut({.bytes = sample.bytes(), .start = start, .at_end = true}, bytes + done);
    }
    bytes += done;
    chunks += chunks_at_once;
    return done;
  });
  return cut_rate{.name = named.name,
                  .cuts = named.cuts.canonical(),
                  .mean_bytes = static_cast<double>(bytes) / static_cast<double>(chunks),
                  .bytes_per_second = 1 / cost,
                  .where = backend_of(*placed)};
}

/// One after the other each takes as long as alone; in lanes a number of them may take no longer than one.
status measure_fingerprints(fingerprint_kind kind, byte_span sample, std::vector<fingerprint_rate>& rates) {
  auto placed = fingerprints_on(kind, backend::automatic);
  if (!placed) return placed.error().code() == status_code::unavailable ? status() : placed.error();
  std::vector<digest> made(numbers_in_flight.back());
  for (const std::uint64_t length : calibration_chunk_lengths) {
    for (const std::uint64_t number : numbers_in_flight) {
      if (length * number > sample.size() || (number > 1 && placed->where == backend::scalar)) break;
      status outcome;
      const double cost = seconds_per_byte(fingerprint_turns, [&](std::uint64_t begin) {
        for (std::uint64_t i = 0; i < number; ++i, begin += length) {
          placed->batch->submit(sample.subspan(begin, length), made[i]);
        }
        if (status flushed = placed->batch->flush(); !flushed.ok()) outcome = flushed;
        return begin;
      });
      if (!outcome.ok()) return outcome;
      rates.push_back({kind, length, number, 1 / cost, placed->where});
    }
  }
  return {};
}

std::uint64_t largest_cache(const topology& machine) {
  std::uint64_t bytes = 0;
  for (const cache_info& cache : machine.caches) bytes = std::max(bytes, cache.bytes);
  return bytes;
}

status measure_processor(const topology& machine, cost_model& model) {
  const auto memory = measure_memory(model.processor_count, largest_cache(machine));
  if (!memory) return memory.error();
  model.memory = *memory;
  const auto together = measure_together(model.processor_count);
  if (!together) return together.error();
  model.together = *together;
  model.seconds_of_a_chunk = measure_index();
  const std::vector<std::uint8_t> sample = random_bytes(kernel_sample_bytes);
  sample_cursor walk(sample, largest_cache(machine));
  for (const named_cuts& each : calibration_cuts()) {
    const auto rate = measure_cuts(each, walk);
    if (!rate) return rate.error();
    model.processor.cuts.push_back(*rate);
  }
  for (const fingerprint_info& each : fingerprints()) {
    if (each.kind == fingerprint_kind::none) continue;
    if (status done = measure_fingerprints(each.kind, sample, model.processor.fingerprints); !done.ok()) return done;
  }
  return {};
}

}  // namespace

double sampled_chunk_bytes(const chunker& cuts) {
  static const std::vector<std::uint8_t> sample = random_bytes(mean_sample_bytes);
  const auto placed = chunker_on(cuts, widest_backend());
  return mean_of_chunks(placed ? *placed : cuts, sample);
}

result<cost_model> calibrate(const topology& machine, const std::vector<gpu_info>& gpus) {
  const auto begin = std::chrono::steady_clock::now();
  cost_model made{.machine = machine_key(machine, gpus),
                  .processor_count = std::max<std::uint64_t>(1, machine.processor_count),
                  .memory = {},
                  .processor = {},
                  .devices = {}};
  if (status done = measure_processor(machine, made); !done.ok()) return done;
  const device_provider cuda;
  for (const gpu_info& gpu : gpus) {
    if (gpu.problem.empty()) made.devices.push_back(calibrate_device(cuda, gpu, {}));
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

}  // namespace cutpoint
