// Measures by the wall clock, because lanes wait for each other and for devices.
#include "cli/bench/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>

#include "cli/dedup/explanation.h"

namespace cutpoint::cli {

namespace {

using clock = std::chrono::steady_clock;

/// The least number of bytes of a plain read: enough to make the start of threads negligible.
constexpr std::uint64_t least_read_bytes = 256 * MiB;

double rate_since(clock::time_point begin, std::uint64_t bytes) {
  return static_cast<double>(bytes) / std::chrono::duration<double>(clock::now() - begin).count();
}

std::optional<double> ratio(const std::optional<double>& rate, const std::optional<double>& limit) {
  return rate && limit && *limit > 0 ? std::optional(*rate / *limit) : std::nullopt;
}

const device_rates* first_device(const engine_job& job) {
  return job.feed.rates && !job.feed.rates->devices.empty() ? &job.feed.rates->devices.front() : nullptr;
}

/// With these rates the back end `automatic` uses no device.
std::shared_ptr<const job_rates> without_devices(job_rates rates) {
  rates.devices.clear();
  return std::make_shared<const job_rates>(std::move(rates));
}

std::string problem_of(std::string_view backend_name) {
  const auto usable = parse_backend(backend_name);
  return usable ? std::string() : usable.error().message();
}

}  // namespace

std::vector<engine_setup> engine_setups(bool has_devices) {
  std::vector<engine_setup> setups = {{.name = "processor"}};
  if (!has_devices) return setups;
  for (const auto& [name, where] : {std::pair("cuda", backend::cuda), std::pair("hybrid", backend::hybrid)}) {
    setups.push_back({.name = name, .where = where, .problem = problem_of(name)});
  }
  return setups;
}

std::optional<double> engine_row::gain_of_both() const {
  if (cells.size() != 3) return std::nullopt;
  const auto& [processor, device, both] = std::tie(cells[0], cells[1], cells[2]);
  if (!processor.bytes_per_second || !device.bytes_per_second) return std::nullopt;
  return ratio(both.bytes_per_second, std::max(processor.bytes_per_second, device.bytes_per_second));
}

/// One run. `problem` is empty if the answer was right.
struct engine_bench::run_outcome {
  double bytes_per_second = 0;
  std::string problem = {};
  bool is_unavailable = false;
  feed_statistics statistics = {};
};

/// Times one run, without opening the feed, which allocates memory and chooses kernels.
result<engine_bench::run_outcome> engine_bench::run(const engine_job& job, const engine_setup& setup, byte_span data,
                                                    const bench_answer& expected, const cancellation& cancel,
                                                    trace_receiver* trace) const {
  feed_options options = job.feed;
  options.where = setup.where;
  if (options.rates && setup.where == backend::automatic) options.rates = without_devices(*options.rates);
  options.cancel = &cancel;
  options.trace = trace;
  answer_check check(expected);
  auto into = threads_.open(options, check);
  if (!into) return run_outcome{.problem = into.error().message(), .is_unavailable = true};
  const clock::time_point begin = clock::now();
  status outcome = into->begin(0);
  if (outcome.ok()) outcome = into->write(data);
  if (outcome.ok()) outcome = into->end();
  if (outcome.ok()) outcome = into->finish();
  run_outcome timed_run{.bytes_per_second = rate_since(begin, data.size()), .statistics = into->statistics()};
  if (outcome.code() == status_code::cancelled) return outcome;
  timed_run.problem = check.problem();
  if (timed_run.problem.empty() && !outcome.ok()) return outcome;
  if (timed_run.problem.empty() && !timed_run.statistics.device_warning.empty()) {
    timed_run.problem = timed_run.statistics.device_warning;
    timed_run.is_unavailable = true;
  }
  return timed_run;
}

result<bench_cell> engine_bench::check(const engine_job& job, const engine_setup& setup, byte_span data,
                                       const bench_answer& expected, const cancellation& cancel) const {
  bench_cell cell{.name = setup.name, .outcome = bench_outcome::unavailable, .problem = setup.problem};
  if (!setup.problem.empty()) return cell;
  feed_timeline* const told =
      trace_ != nullptr ? &trace_->add(fmt::format("{} {} {}, {}", job.name, job.size, job.hash, setup.name)) : nullptr;
  auto first = run(job, setup, data, expected, cancel, told);
  if (!first) return first.error();
  cell.problem = std::move(first->problem);
  if (first->is_unavailable) return cell;
  cell.outcome = cell.problem.empty() ? bench_outcome::measured : bench_outcome::wrong_answer;
  if (cell.outcome != bench_outcome::measured) return cell;
  const feed_statistics& did = first->statistics;
  cell.plan = did.plan;
  cell.device_cut_share = static_cast<double>(did.device_bytes) / static_cast<double>(data.size());
  const plan_prediction* const predicted = prediction_of(did.predictions, did.plan);
  if (predicted != nullptr) cell.predicted = predicted->bytes_per_second;
  return cell;
}

double engine_bench::read_rate(byte_span data) const {
  const std::uint64_t count = threads_.thread_count();
  const std::uint64_t turns = (least_read_bytes + data.size() - 1) / data.size();
  const clock::time_point begin = clock::now();
  std::vector<std::uint64_t> sums(count);
  std::vector<std::jthread> readers;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = data.size() / count * i;
    const byte_span mine = i + 1 == count ? data.subspan(first) : data.subspan(first, data.size() / count);
    readers.emplace_back([mine, turns, &sum = sums[i]] {
      for (std::uint64_t turn = 0; turn < turns; ++turn) sum += plain_read(mine, backend::automatic);
    });
  }
  for (std::jthread& reader : readers) reader.join();
  return rate_since(begin, turns * data.size());
}

result<engine_row> engine_bench::measure(const engine_job& job, byte_span data, std::uint64_t rounds,
                                         const cancellation& cancel) const {
  const auto expected = reference_answer(job.feed.cuts, job.feed.fingerprint, data, cancel);
  if (!expected) return expected.error();
  engine_row row{.job = &job,
                 .mean_bytes = static_cast<double>(data.size()) / static_cast<double>(expected->chunks.size()),
                 .cells = {}};
  for (const engine_setup& setup : setups_) {
    auto cell = check(job, setup, data, *expected, cancel);
    if (!cell) return cell.error();
    row.cells.push_back(*std::move(cell));
  }
  std::vector<double> reads;
  std::vector<round_rates> measured(setups_.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    reads.push_back(read_rate(data));
    for (std::size_t i = 0; i < setups_.size(); ++i) {
      bench_cell& cell = row.cells[i];
      if (cell.outcome != bench_outcome::measured) continue;
      auto timed = run(job, setups_[i], data, *expected, cancel, nullptr);
      if (!timed) return timed.error();
      if (!timed->problem.empty()) {
        cell.outcome = timed->is_unavailable ? bench_outcome::unavailable : bench_outcome::wrong_answer;
        cell.problem = std::move(timed->problem);
        continue;
      }
      measured[i].add(timed->bytes_per_second, reads.back());
    }
  }
  row.read_bytes_per_second = median(reads);
  const device_rates* const device = first_device(job);
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    bench_cell& cell = row.cells[i];
    measured[i].finish(cell);
    if (!cell.bytes_per_second || device == nullptr || setups_[i].where == backend::automatic) continue;
    cell.of_link = ratio(cell.bytes_per_second, device->link_in);
    cell.of_device = ratio(cell.bytes_per_second, kernel_rate(*device));
  }
  return row;
}

}  // namespace cutpoint::cli
