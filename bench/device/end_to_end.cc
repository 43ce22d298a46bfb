// Measures lanes, each a thread with an offload, that take batches from the same memory in turn.
#include "bench/device/end_to_end.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include <cutpoint/timing.h>

#include "bench/device/answers.h"

namespace cutpoint::bench {

namespace {

using steady = std::chrono::steady_clock;

/// The work on batches.
struct lane_job {
  chunker cuts;
  fingerprint_kind fingerprint = fingerprint_kind::sha1;
  cuda::offload_use use = cuda::offload_use::cut;
};

lane_job job_of_known_chunks(fingerprint_kind fingerprint) {
  return {*chunker::make(fixed_parameters{.avg_bytes = 8 * KiB}), fingerprint, cuda::offload_use::fingerprint};
}

/// An offload for batches of one size, and the output of the last batch.
class lane {
 public:
  [[nodiscard]] static result<lane> make(const lane_job& job, const device_data& data, std::uint64_t batch_bytes) {
    lane new_lane;
    if (job.use == cuda::offload_use::fingerprint) {
      for (std::uint64_t begin = 0; begin < batch_bytes; begin += job.cuts.reach()) {
        new_lane.begins_.push_back(begin);
        new_lane.lengths_.push_back(static_cast<std::uint32_t>(std::min(job.cuts.reach(), batch_bytes - begin)));
      }
    }
    auto offload = cuda::make_offload(data.device, job.cuts, job.fingerprint,
                                      {.bytes = batch_bytes, .chunks = new_lane.begins_.size()}, job.use);
    if (!offload) return offload.error();
    new_lane.offload_ = std::move(*offload);
    return result<lane>(std::move(new_lane));
  }

  [[nodiscard]] status run(byte_span batch) {
    if (!begins_.empty()) {
      cuda::chunk_output known;
      const status ran = offload_->fingerprint({.buffers = {&batch, 1}, .begins = begins_, .lengths = lengths_}, known);
      output_ = {.is_complete = ran.ok(),
                 .lengths = lengths_,
                 .digests = known.digests,
                 .stream_ranges = {},
                 .times = known.times};
      return ran;
    }
    const cuda::stream_range all{.begin = 0, .start = 0, .stop = batch.size(), .end = batch.size(), .ends = 1};
    CUTPOINT_RETURN_IF_FAILED(offload_->run({.buffers = {&batch, 1}, .stream_ranges = {&all, 1}}, output_));
    return output_.is_complete ? status()
                               : status(status_code::memory_limit, "a batch had more chunks than there is room for");
  }
  [[nodiscard]] const cuda::batch_output& output() const { return output_; }

 private:
  std::unique_ptr<cuda::offload> offload_;
  std::vector<std::uint64_t> begins_;  ///< begins of known chunks; empty if batches are cut
  std::vector<std::uint32_t> lengths_;
  cuda::batch_output output_;
};

std::string sample_fault(const lane_job& job, const device_data& data) {
  auto lane = lane::make(job, data, data.sample.size());
  if (!lane) return lane.error().message();
  if (const status ran = lane->run(data.sample); !ran.ok()) return ran.message();
  const auto expected = reference_answer(job.cuts, job.fingerprint, data.sample);
  return expected ? answer_fault(*expected, lane->output().lengths, lane->output().digests)
                  : expected.error().message();
}

/// Returns bytes a second of all lanes together. Each lane first does a batch that does not count. Then all begin at once, and
/// all batches that begin before the time is over count, with the time until the last one ends.
result<double> sample_rate(std::vector<lane>& lanes, byte_span data, std::uint64_t batch_bytes, double seconds) {
  const std::uint64_t batch_count = data.size() / batch_bytes;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<bool> is_late = false;
  std::vector<status> outcomes(lanes.size());
  std::latch warm(static_cast<std::ptrdiff_t>(lanes.size()) + 1);
  const auto work = [&](std::size_t number) {
    const auto one_more = [&] {
      const std::uint64_t offset = next++ % batch_count * batch_bytes;
      outcomes[number] = lanes[number].run(data.subspan(offset, batch_bytes));
    };
    one_more();
    warm.arrive_and_wait();
    while (outcomes[number].ok() && !is_late) {
      one_more();
      ++done;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < lanes.size(); ++number) threads.emplace_back(work, number);
  warm.arrive_and_wait();
  const auto begin = steady::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  is_late = true;
  for (std::thread& each : threads) each.join();
  const double elapsed = std::chrono::duration<double>(steady::now() - begin).count();
  for (const status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return static_cast<double>(done * batch_bytes) / elapsed;
}

result<lanes_rate> measure_lanes(const lane_job& job, const device_data& data, std::uint64_t lane_count,
                                 std::uint64_t batch_bytes, const lane_sweep& plan) {
  std::vector<lane> lanes;
  for (std::uint64_t i = 0; i < lane_count; ++i) {
    auto next_lane = lane::make(job, data, batch_bytes);
    if (!next_lane) return next_lane.error();
    lanes.push_back(std::move(*next_lane));
  }
  std::vector<double> rates;
  for (int sample = 0; sample < plan.samples; ++sample) {
    const auto rate = sample_rate(lanes, data.here, batch_bytes, plan.seconds);
    if (!rate) return rate.error();
    rates.push_back(*rate);
  }
  return lanes_rate{lane_count, {batch_bytes, median(std::move(rates))}};
}

/// Measures all combinations of the sweep.
void fill(end_to_end_row& row, const lane_job& job, const device_data& data, const lane_sweep& plan, deadline end) {
  if (!is_over(end)) row.problem = sample_fault(job, data);
  for (const std::uint64_t lanes : plan.lanes) {
    for (const std::uint64_t batch_bytes : plan.batch_sizes) {
      if (is_over(end) && row.problem.empty()) row.problem = out_of_time;
      if (!row.problem.empty()) return;
      const auto rate = measure_lanes(job, data, lanes, batch_bytes, plan);
      if (rate) {
        row.rates.push_back(*rate);
      } else {
        row.problem = rate.error().message();
      }
    }
  }
}

}  // namespace

result<memory_lock> memory_lock::make(std::span<std::uint8_t> bytes, int device) {
  auto offload =
      cuda::make_offload(device, *chunker::make(fixed_parameters{}), fingerprint_kind::none, {.bytes = 64 * KiB});
  if (!offload) return offload.error();
  CUTPOINT_RETURN_IF_FAILED((*offload)->pin(bytes.data(), bytes.size()));
  return result<memory_lock>(memory_lock(bytes.data(), std::move(*offload)));
}

end_to_end_row measure_end_to_end(std::string_view name, const chunker& cuts, const device_data& data,
                                  const lane_sweep& plan, deadline end) {
  end_to_end_row row{.name = std::string(name), .canonical = cuts.canonical()};
  fill(row, {.cuts = cuts}, data, plan, end);
  return row;
}

end_to_end_row measure_known_chunks(fingerprint_kind fingerprint, const device_data& data, const lane_sweep& plan,
                                    deadline end) {
  const lane_job job = job_of_known_chunks(fingerprint);
  end_to_end_row row{
      .name = std::string(name_of(fingerprint)), .canonical = job.cuts.canonical(), .fingerprint = fingerprint};
  fill(row, job, data, plan, end);
  return row;
}

}  // namespace cutpoint::bench
