// Lanes: a thread and an offload each, which take batches from the same memory in turn.
#include "bench/device_end_to_end.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "bench/device_answers.h"
#include "bench/median.h"

namespace cutpoint::bench {

namespace {

using steady = std::chrono::steady_clock;
using lanes_of_device = std::vector<std::unique_ptr<cuda::offload>>;

constexpr fingerprint_kind fingerprint = fingerprint_kind::sha1;

status run_batch(cuda::offload& on, byte_span batch, cuda::batch_output& found) {
  const cuda::piece all{.begin = 0, .start = 0, .stop = batch.size(), .end = batch.size(), .ends = 1};
  if (status ran = on.run({.parts = {&batch, 1}, .pieces = {&all, 1}}, found); !ran.ok()) return ran;
  return found.is_complete ? status()
                           : status(status_code::memory_limit, "a batch had more chunks than there is room for");
}

std::string sample_fault(const chunker& cuts, const device_data& data) {
  const auto on = cuda::make_offload(data.device, cuts, fingerprint, {.bytes = data.sample.size()});
  if (!on) return on.error().message();
  cuda::batch_output found;
  if (const status ran = run_batch(**on, data.sample, found); !ran.ok()) return ran.message();
  const auto expected = reference_answer(cuts, fingerprint, data.sample);
  return expected ? answer_fault(*expected, found.lengths, found.digests) : expected.error().message();
}

/// Bytes a second of all lanes together. Each first does a batch that is not counted; then all begin at once, and what is
/// begun before the time is over counts, with the time that it takes.
result<double> sample_rate(const lanes_of_device& lanes, byte_span data, std::uint64_t batch_bytes, double seconds) {
  const std::uint64_t batch_count = data.size() / batch_bytes;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<bool> is_late = false;
  std::vector<status> outcomes(lanes.size());
  std::latch warm(static_cast<std::ptrdiff_t>(lanes.size()) + 1);
  const auto work = [&](std::size_t lane) {
    cuda::batch_output found;
    const auto one_more = [&] {
      const std::uint64_t at = next++ % batch_count * batch_bytes;
      outcomes[lane] = run_batch(*lanes[lane], data.subspan(at, batch_bytes), found);
    };
    one_more();
    warm.arrive_and_wait();
    while (outcomes[lane].ok() && !is_late) {
      one_more();
      ++done;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) threads.emplace_back(work, lane);
  warm.arrive_and_wait();
  const auto begin = steady::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  is_late = true;
  for (std::thread& each : threads) each.join();
  const double taken = std::chrono::duration<double>(steady::now() - begin).count();
  for (const status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return static_cast<double>(done * batch_bytes) / taken;
}

result<lanes_rate> measure_lanes(const chunker& cuts, const device_data& data, std::uint64_t lane_count,
                                 std::uint64_t batch_bytes, const lanes_plan& plan) {
  lanes_of_device lanes;
  for (std::uint64_t i = 0; i < lane_count; ++i) {
    auto made = cuda::make_offload(data.device, cuts, fingerprint, {.bytes = batch_bytes});
    if (!made) return made.error();
    lanes.push_back(std::move(*made));
  }
  std::vector<double> rates;
  for (int sample = 0; sample < plan.samples; ++sample) {
    const auto rate = sample_rate(lanes, data.here, batch_bytes, plan.seconds);
    if (!rate) return rate.error();
    rates.push_back(*rate);
  }
  return lanes_rate{lane_count, {batch_bytes, median(std::move(rates))}};
}

}  // namespace

result<pinned_bytes> pinned_bytes::copy_of(const device_bytes& from, std::uint64_t size, int device) {
  auto bytes = copy_from_device(from.data(), std::min(size, from.size));
  if (!bytes) return bytes.error();
  auto by = cuda::make_offload(device, *chunker::make(fixed_parameters{}), fingerprint_kind::none, {.bytes = 64 * KiB});
  if (!by) return by.error();
  if (status pinned = (*by)->pin(bytes->data(), bytes->size()); !pinned.ok()) return pinned;
  return result<pinned_bytes>(pinned_bytes(std::move(*bytes), std::move(*by)));
}

end_to_end_row measure_end_to_end(std::string_view name, const chunker& cuts, const device_data& data,
                                  const lanes_plan& plan, deadline end) {
  end_to_end_row row{.name = std::string(name), .canonical = cuts.canonical()};
  if (!is_over(end)) row.problem = sample_fault(cuts, data);
  for (const std::uint64_t lanes : plan.lanes) {
    for (const std::uint64_t batch_bytes : plan.batch_sizes) {
      if (is_over(end) && row.problem.empty()) row.problem = out_of_time;
      if (!row.problem.empty()) return row;
      const auto rate = measure_lanes(cuts, data, lanes, batch_bytes, plan);
      if (rate) {
        row.rates.push_back(*rate);
      } else {
        row.problem = rate.error().message();
      }
    }
  }
  return row;
}

}  // namespace cutpoint::bench
