// Measures the processor and its memory, then the devices.
#include "pipeline/costs/calibration.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <system_error>
#include <thread>

#include <cutpoint/memory_index.h>
#include <cutpoint/speed.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/core/process_limits.h"
#include "pipeline/backends/fastest.h"
#include "pipeline/schedule/lane.h"

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
  CUTPOINT_TRY(const auto cuts, chunker_on(job.cuts, backend::automatic));
  const aligned_bytes block = aligned_bytes::random(block_bytes);
  const auto chunks = std::make_shared<const std::vector<chunk>>(cuts.find_cuts(block.view()));
  const std::uint64_t mean_bytes = block_bytes / chunks->size();
  const std::uint64_t block_count = std::clamp(2 * cache_bytes / block_bytes, least_blocks, most_blocks);
  const aligned_bytes sample = aligned_bytes::copy(std::vector<byte_span>(block_count, block.view()));
  const std::string canonical = cuts.canonical();
  rates.cuts = {{.name = canonical.substr(0, canonical.find('(')),
                 .cuts = canonical,
                 .mean_bytes = static_cast<double>(mean_bytes),
                 .bytes_per_second = best_rate(cutting_work(cuts, sample.view()), sample.view().size()),
                 .where = backend_of(cuts)}};
  if (job.fingerprint.kind == fingerprint_kind::none) return {};
  CUTPOINT_TRY(auto chosen, fingerprints_on(job.fingerprint, backend::automatic));
  std::vector<digest> digests(chunks->size());
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    chosen.batch->submit(block.view().subspan((*chunks)[i].offset, (*chunks)[i].length), digests[i]);
  }
  CUTPOINT_RETURN_IF_FAILED(chosen.batch->flush());
  rates.fingerprints = {
      {.kind = job.fingerprint.kind,
       .chunk_bytes = mean_bytes,
       .in_flight = std::max<std::uint64_t>(1, work_block_bytes / mean_bytes),
       .bytes_per_second = best_rate(hashing_work(std::move(chosen.batch), block.view(), chunks), block_bytes),
       .where = chosen.where}};
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
  CUTPOINT_TRY(model.memory, measure_memory(model.processor_count, largest_cache(machine)));
  CUTPOINT_TRY(model.together, measure_together(model.processor_count));
  model.seconds_of_a_chunk = measure_index();
  CUTPOINT_RETURN_IF_FAILED(measure_cuts_and_fingerprints(job, largest_cache(machine), model.processor));
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
  CUTPOINT_TRY(const auto costs, calibrate(discover_topology(), devices, job));
  rates = std::make_shared<const job_rates>(rates_for(costs, job, thread_count));
  return rates;
}

// Threads begin each turn together.

namespace {

constexpr int memory_turns = 4;
constexpr std::uint64_t most_processors = 4096;
constexpr std::uint64_t read_block_bytes = 512 * KiB;
constexpr std::uint64_t least_memory = 64 * MiB;
constexpr std::uint64_t most_memory = 256 * MiB;
constexpr std::uint64_t file_bytes = 16 * MiB;
constexpr std::uint64_t read_into_bytes = 4 * MiB;  ///< as much of a feed's ring as is in use
constexpr std::uint64_t hashed_bytes = 128 * KiB;
constexpr double hashing_seconds = 4e-3;
constexpr std::size_t index_entries = 100'000;
constexpr std::size_t index_batch = 250;  ///< about as many chunks as a segment has

constexpr std::align_val_t line{64};
struct aligned_deleter {
  void operator()(std::uint8_t* bytes) const { ::operator delete[](bytes, line); }
};

/// Does one thread's part of a turn and gives its bytes.
using thread_work = std::function<std::uint64_t(std::uint64_t thread)>;

/// Bytes a second of so many threads that do a turn at once, added up; the best turn. By each thread's processor time,
/// in which waiting for memory counts, and for a processor that something else has does not.
result<double> rate_of_threads(std::uint64_t count, const thread_work& work) {
  std::barrier begin(static_cast<std::ptrdiff_t>(count));
  std::vector<double> rates(count * memory_turns);
  const auto serve = [&](std::uint64_t thread) {
    for (std::uint64_t turn = 0; turn < memory_turns; ++turn) {
      begin.arrive_and_wait();
      const double thread_begin = thread_seconds();
      const auto bytes = static_cast<double>(work(thread));
      rates[turn * count + thread] = bytes / std::max(thread_seconds() - thread_begin, least_seconds);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(count);
  int refusal = 0;
  try {
    const signals_blocked blocked;
    for (std::uint64_t thread = 1; thread < count; ++thread) threads.emplace_back(serve, thread);
  } catch (const std::system_error& refused) {
    refusal = refused.code().value();
  } catch (const std::bad_alloc&) {
    refusal = ENOMEM;
  }
  if (refusal == 0) {
    serve(0);
  } else {  // those that are there must not wait for those that are not
    for (std::uint64_t missing = threads.size(); missing < count; ++missing) begin.arrive_and_drop();
  }
  for (std::thread& each : threads) each.join();
  if (refusal != 0) return status{status_code::unavailable, "threads to measure with cannot be started", refusal};
  double best = 0;
  for (auto turn = rates.begin(); turn != rates.end(); turn += static_cast<std::ptrdiff_t>(count)) {
    best = std::max(best, std::accumulate(turn, turn + static_cast<std::ptrdiff_t>(count), 0.0));
  }
  return best;
}

/// What one thread reads of a file in memory into a little of its own; 0 where there can be no such file.
double page_cache_rate(std::span<std::uint8_t> buffer) {
  const int file = ::memfd_create("cutpoint", MFD_CLOEXEC);
  if (file < 0) return 0;
  bool is_whole = true;
  for (std::uint64_t position = 0; position < file_bytes && is_whole; position += read_block_bytes) {
    const ssize_t count = without_size_signal(
        [&] { return ::pwrite(file, buffer.data(), read_block_bytes, static_cast<off_t>(position)); });
    is_whole = count == static_cast<ssize_t>(read_block_bytes);
  }
  double cost = 0;
  if (is_whole) {
    cost = seconds_per_byte(
        {.sample_bytes = file_bytes, .turns = memory_turns, .turn_seconds = 1}, [&](std::uint64_t position) {
          is_whole &= ::pread(file, buffer.data() + position % read_into_bytes, read_block_bytes,
                              static_cast<off_t>(position)) == static_cast<ssize_t>(read_block_bytes);
          return position + read_block_bytes;
        });
  }
  ::close(file);
  return is_whole ? 1 / cost : 0;
}

}  // namespace

result<memory_rates> measure_memory(std::uint64_t processor_count, std::uint64_t largest_cache_bytes) {
  const std::uint64_t threads = std::clamp<std::uint64_t>(processor_count, 1, most_processors);
  const std::uint64_t wanted = std::clamp(2 * std::min(largest_cache_bytes, most_memory), least_memory, most_memory);
  const std::uint64_t thread_bytes = std::max<std::uint64_t>(64, wanted / threads / 64 * 64);
  // Not touched here, but by those who read it, where they run.
  const std::unique_ptr<std::uint8_t[], aligned_deleter> memory(new (line) std::uint8_t[thread_bytes * threads]);
  const std::span<std::uint8_t> all(memory.get(), thread_bytes * threads);
  std::atomic<std::uint64_t> sum = 0;  // nobody may think that the reads are for nothing
  const auto touched = rate_of_threads(threads, [&](std::uint64_t thread) {
    std::memset(all.data() + thread * thread_bytes, 1, thread_bytes);
    return thread_bytes;
  });
  if (!touched) return touched.error();
  const auto together = rate_of_threads(threads, [&](std::uint64_t thread) {
    sum += plain_read(all.subspan(thread * thread_bytes, thread_bytes), backend::automatic);
    return thread_bytes;
  });
  if (!together) return together.error();
  memory_rates rates{.read_by_all = *together};
  const timing_options whole = {.sample_bytes = all.size() / 2, .turns = memory_turns, .turn_seconds = 1};
  rates.read_by_one = 1 / seconds_per_byte(whole, [&](std::uint64_t begin) {
                        const std::uint64_t count = std::min(read_block_bytes, whole.sample_bytes - begin);
                        sum += plain_read(all.subspan(begin, count), backend::automatic);
                        return begin + count;
                      });
  rates.copy = 1 / seconds_per_byte(whole, [&](std::uint64_t begin) {
                 const std::uint64_t count = std::min(read_block_bytes, whole.sample_bytes - begin);
                 std::memcpy(all.data() + whole.sample_bytes + begin, all.data() + begin, count);
                 return begin + count;
               });
  rates.page_cache = page_cache_rate(all);
  return rates;
}

result<double> measure_together(std::uint64_t processor_count) {
  const std::uint64_t threads = std::clamp<std::uint64_t>(processor_count, 1, most_processors);
  if (threads == 1) return 1.0;
  const std::vector<std::uint8_t> bytes = random_bytes(hashed_bytes);
  std::vector<chosen_fingerprinter> makers(threads);
  for (chosen_fingerprinter& maker : makers) {
    CUTPOINT_TRY(maker, fingerprints_on(fingerprint_kind::blake3, widest_backend()));
  }
  const thread_work work = [&](std::uint64_t thread) {
    const double begin = thread_seconds();
    std::uint64_t done = 0;
    digest output;
    while (thread_seconds() - begin < hashing_seconds) {
      makers[thread].batch->submit(bytes, output);
      if (!makers[thread].batch->flush().ok()) break;
      done += bytes.size();
    }
    return done;
  };
  CUTPOINT_TRY(const double alone, rate_of_threads(1, work));
  CUTPOINT_TRY(const double all, rate_of_threads(threads, work));
  return std::min(1.0, all / (alone * static_cast<double>(threads)));
}

double measure_index() {
  const std::vector<std::uint8_t> bytes = random_bytes(index_entries * 8);
  std::vector<digest> digests(index_entries, digest{.size = 20});
  for (std::size_t i = 0; i < index_entries; ++i) std::memcpy(digests[i].bytes.data(), bytes.data() + i * 8, 8);
  std::vector<index_answer> answers(index_batch);
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < memory_turns; ++turn) {
    memory_index known(fingerprint_kind::sha1);
    const double begin = thread_seconds();
    for (std::size_t i = 0; i < index_entries; i += index_batch) {
      static_cast<void>(known.insert(std::span(digests).subspan(i, index_batch), answers));
    }
    best = std::min(best, thread_seconds() - begin);
  }
  return best / static_cast<double>(index_entries);
}

}  // namespace cutpoint
