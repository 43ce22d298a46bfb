// Compares the whole answer of each back end with the reference's before it is measured. Measures by the wall clock, because lanes wait
// for each other and for devices.
#include "cli/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <cutpoint/cut_cursor.h>
#include <fmt/format.h>

#include "cli/dedup/explanation.h"

namespace cutpoint::cli {

// --- Rounds ----------------------------------------------------------------------------------------------------------

std::string_view to_string(bench_place place) {
  constexpr std::array<std::string_view, 3> names = {"memory", "l2", "device"};
  return names[static_cast<std::size_t>(place)];
}

result<bench_row> measure(const bench_job& job, bench_place place, byte_span data, std::uint64_t rounds,
                          const cancellation& cancel) {
  CUTPOINT_TRY(auto contest, prepare(job, data, cancel));
  for (bench_contender& each : contest.contenders) {
    const bool is_timed = std::ranges::count(job.timed, each.where) != 0;
    if (each.outcome == bench_outcome::measured && !is_timed) each.outcome = bench_outcome::checked;
  }
  CUTPOINT_TRY(const auto reads, prepare({.kind = bench_kind::read, .name = {}, .size = {}}, data, cancel));
  const auto is_widest = [](const bench_contender& each) { return each.where == widest_backend(); };
  const timed_work& read = std::find_if(reads.contenders.begin(), reads.contenders.end(), is_widest)->work;
  const auto rate = [&](const timed_work& work) {
    return rate_of(work, data.size(),
                   place == bench_place::memory ? measuring_effort() : measuring_effort{.least_seconds = 0.02});
  };

  std::vector<double> read_rates;
  std::vector<round_rates> measured(contest.contenders.size());
  for (std::uint64_t round = 0; round < (job.timed.empty() ? 1 : rounds); ++round) {
    read_rates.push_back(rate(read));
    for (std::size_t i = 0; i < measured.size(); ++i) {
      if (cancel.is_requested()) return status{status_code::cancelled, "interrupted"};
      if (contest.contenders[i].outcome != bench_outcome::measured) continue;
      measured[i].add(rate(contest.contenders[i].work), read_rates.back());
    }
  }

  bench_row row{.job = &job,
                .place = place,
                .mean_bytes = contest.mean_bytes,
                .read_bytes_per_second = median(read_rates),
                .cells = {}};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const bench_contender& each = contest.contenders[i];
    row.cells.push_back(
        {.name = to_string(each.where), .outcome = each.outcome, .leaves_to = each.leaves_to, .problem = each.problem});
    measured[i].finish(row.cells.back());
  }
  return row;
}

// --- Kernels ---------------------------------------------------------------------------------------------------------

namespace {

bench_contender wrong_contender(backend where, std::string problem) {
  return {.where = where, .outcome = bench_outcome::wrong_answer, .problem = std::move(problem)};
}

timed_work reading_work(backend where, byte_span data) {
  return [where, data](std::uint64_t begin) {
    const std::uint64_t count = std::min<std::uint64_t>(data.size() - begin, work_block_bytes);
    static_cast<void>(plain_read(data.subspan(begin, count), where));
    return begin + count;
  };
}

double mean_of(byte_span data, const std::vector<chunk>& chunks) {
  return static_cast<double>(data.size()) / static_cast<double>(chunks.size());
}

/// Returns the chunks of `data`; of its beginning if it is cancelled.
std::vector<chunk> chunks_of(const chunker& cuts, byte_span data, const cancellation& cancel) {
  std::vector<chunk> chunks;
  cut_cursor cursor(cuts);
  for (std::uint64_t start = 0; start < data.size() && !cancel.is_requested(); start += chunks.back().length) {
    chunks.push_back({start, *cursor.next_cut({.bytes = data, .start = start, .at_end = true}, start)});
  }
  return chunks;
}

/// Returns how chunks differ from those of the reference, or an empty string.
std::string difference(std::span<const chunk> chunks, std::span<const chunk> expected, byte_span data) {
  const auto [wrong, right] = std::mismatch(chunks.begin(), chunks.end(), expected.begin(), expected.end());
  if (wrong == chunks.end() && right == expected.end()) return {};
  return fmt::format("cuts another chunk at offset {} than the reference",
                     right != expected.end() ? right->offset : data.size());
}

checked_bench_job prepare_reads(byte_span data) {
  checked_bench_job contest;
  for (const backend_info& b : processor_backends()) {
    if (b.runs_here)
      contest.contenders.push_back({.where = b.kind, .work = reading_work(b.kind, data)});
    else
      contest.contenders.push_back({.where = b.kind, .outcome = bench_outcome::does_not_run});
  }
  return contest;
}

backend used_backend(const chunker& candidate) { return backend_of(candidate); }
backend used_backend(const chosen_fingerprinter& candidate) { return candidate.where; }

/// Adds a contender for every back end but the scalar one: what `check` makes of what `make` returned.
template <class Make, class Check>
void add_contenders(checked_bench_job& contest, Make&& make, Check&& check) {
  for (const backend_info& b : processor_backends()) {
    if (b.kind == backend::scalar) continue;
    auto candidate = make(b.kind);
    if (!candidate) {
      contest.contenders.push_back({.where = b.kind, .outcome = bench_outcome::does_not_run});
    } else if (used_backend(*candidate) != b.kind) {
      contest.contenders.push_back(
          {.where = b.kind, .outcome = bench_outcome::no_kernel, .leaves_to = to_string(used_backend(*candidate))});
    } else {
      contest.contenders.push_back(check(b.kind, *candidate));
    }
  }
}

result<checked_bench_job> prepare_cuts(const bench_job& job, byte_span data, const cancellation& cancel) {
  CUTPOINT_TRY(const auto reference, chunker_on(*job.cuts, backend::scalar));
  const std::vector<chunk> expected = chunks_of(reference, data, cancel);
  checked_bench_job contest{.contenders = {{.where = backend::scalar, .work = cutting_work(reference, data)}},
                            .mean_bytes = mean_of(data, expected)};
  add_contenders(
      contest, [&](backend where) { return chunker_on(*job.cuts, where); },
      [&](backend where, const chunker& candidate) {
        return cutting_contender(where, candidate, data, expected, cancel);
      });
  return contest;
}

result<std::vector<digest>> digests_of(batch_fingerprinter& batch, byte_span data, const std::vector<chunk>& chunks,
                                       const cancellation& cancel) {
  std::vector<digest> digests(chunks.size());
  for (std::size_t i = 0; i < chunks.size() && !cancel.is_requested(); ++i) {
    batch.submit(data.subspan(chunks[i].offset, chunks[i].length), digests[i]);
  }
  CUTPOINT_RETURN_IF_FAILED(batch.flush());
  return digests;
}

result<checked_bench_job> prepare_fingerprints(const bench_job& job, byte_span data, const cancellation& cancel) {
  CUTPOINT_TRY(const auto cuts, chunker_on(*job.cuts, backend::automatic));
  const auto chunks = std::make_shared<const std::vector<chunk>>(chunks_of(cuts, data, cancel));
  CUTPOINT_TRY(auto library, fingerprints_on(job.fingerprint, backend::scalar));
  CUTPOINT_TRY(const auto expected, digests_of(*library.batch, data, *chunks, cancel));
  checked_bench_job contest{
      .contenders = {{.where = backend::scalar, .work = hashing_work(std::move(library.batch), data, chunks)}},
      .mean_bytes = mean_of(data, *chunks)};
  add_contenders(
      contest, [&](backend where) { return fingerprints_on(job.fingerprint, where); },
      [&](backend where, chosen_fingerprinter& hasher) {
        return hashing_contender(where, std::move(hasher.batch), data, chunks, expected, cancel);
      });
  return contest;
}

}  // namespace

std::string_view to_string(bench_kind kind) {
  constexpr std::array<std::string_view, 3> names = {"read", "cuts", "fingerprint"};
  return names[static_cast<std::size_t>(kind)];
}

result<checked_bench_job> prepare(const bench_job& job, byte_span data, const cancellation& cancel) {
  if (!job.problem.empty()) {
    checked_bench_job unmeasured;
    for (const backend_info& b : processor_backends())
      unmeasured.contenders.push_back({.where = b.kind, .outcome = bench_outcome::unavailable, .problem = job.problem});
    return unmeasured;
  }
  if (job.kind == bench_kind::read) return prepare_reads(data);
  return job.kind == bench_kind::cuts ? prepare_cuts(job, data, cancel) : prepare_fingerprints(job, data, cancel);
}

bench_contender cutting_contender(backend where, const chunker& cuts, byte_span data, std::span<const chunk> expected,
                                  const cancellation& cancel) {
  std::string problem = difference(chunks_of(cuts, data, cancel), expected, data);
  if (!problem.empty()) return wrong_contender(where, std::move(problem));
  return {.where = where, .work = cutting_work(cuts, data)};
}

bench_contender hashing_contender(backend where, std::shared_ptr<batch_fingerprinter> batch, byte_span data,
                                  std::shared_ptr<const std::vector<chunk>> chunks, std::span<const digest> expected,
                                  const cancellation& cancel) {
  const auto digests = digests_of(*batch, data, *chunks, cancel);
  if (!digests) return wrong_contender(where, digests.error().message());
  const auto wrong = std::mismatch(digests->begin(), digests->end(), expected.begin(), expected.end()).first;
  if (wrong != digests->end()) {
    const chunk& c = (*chunks)[static_cast<std::size_t>(wrong - digests->begin())];
    return wrong_contender(
        where, fmt::format("gives another fingerprint of the chunk of {} bytes at offset {} than the library", c.length,
                           c.offset));
  }
  return {.where = where, .work = hashing_work(std::move(batch), data, std::move(chunks))};
}

result<bench_row> measure_device(const bench_job& job, const result<device_cutting>& cutting, byte_span data,
                                 std::uint64_t rounds, const cancellation& cancel) {
  CUTPOINT_TRY(const auto reference, chunker_on(*job.cuts, backend::scalar));
  const std::vector<chunk> expected = chunks_of(reference, data, cancel);
  bench_row row{.job = &job,
                .place = bench_place::device,
                .mean_bytes = mean_of(data, expected),
                .read_bytes_per_second = rate_of(reading_work(widest_backend(), data), data.size()),
                .cells = {{.name = to_string(backend::cuda)}}};
  bench_cell& cell = row.cells.front();
  const auto bytes = static_cast<double>(data.size());
  round_rates cut;
  std::vector<double> copied;
  for (std::uint64_t round = 0; round <= rounds; ++round) {  // the first is not counted
    if (cancel.is_requested()) return status{status_code::cancelled, "interrupted"};
    const auto pass = cutting ? (*cutting)() : cutting.error();
    cell.problem = pass ? difference(pass->chunks, expected, data) : pass.error().message();
    if (!cell.problem.empty()) {
      cell.outcome = pass ? bench_outcome::wrong_answer : bench_outcome::unavailable;
      return row;
    }
    if (round == 0) continue;
    cut.add(bytes / pass->cutting_seconds, row.read_bytes_per_second);
    copied.push_back(bytes / pass->copying_seconds);
  }
  cut.finish(cell);
  cell.of_read.reset();  // a read by the processor is no bound of a device
  cell.copied = median(copied);
  return row;
}

// --- The engine ------------------------------------------------------------------------------------------------------

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

bool uses_device(backend where) { return where == backend::cuda || where == backend::hybrid; }

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
  bench_cell cell{.name = setup.name,
                  .outcome = bench_outcome::unavailable,
                  .problem = setup.problem.empty() ? job.problem : setup.problem};
  if (!cell.problem.empty()) return cell;
  feed_timeline* const told =
      trace_ != nullptr ? &trace_->add(fmt::format("{} {} {}, {}", job.name, job.size, job.hash, setup.name)) : nullptr;
  CUTPOINT_TRY(auto first, run(job, setup, data, expected, cancel, told));
  cell.problem = std::move(first.problem);
  if (first.is_unavailable) return cell;
  cell.outcome = cell.problem.empty() ? bench_outcome::measured : bench_outcome::wrong_answer;
  if (cell.outcome != bench_outcome::measured) return cell;
  const feed_statistics& did = first.statistics;
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
    const auto read = [mine, turns, &sum = sums[i]] {
      for (std::uint64_t turn = 0; turn < turns; ++turn) sum += plain_read(mine, backend::automatic);
    };
    try {
      readers.emplace_back(read);
    } catch (const std::system_error&) {  // no thread more can be started
      read();
    }
  }
  for (std::jthread& reader : readers) reader.join();
  return rate_since(begin, turns * data.size());
}

result<engine_row> engine_bench::measure(const engine_job& job, byte_span data, std::uint64_t rounds,
                                         const cancellation& cancel) const {
  const fingerprint_recipe fingerprint = job.problem.empty() ? job.feed.fingerprint : fingerprint_kind::none;
  CUTPOINT_TRY(const auto expected, reference_answer(job.feed.cuts, fingerprint, data, cancel));
  engine_row row{.job = &job,
                 .mean_bytes = static_cast<double>(data.size()) / static_cast<double>(expected.chunks.size()),
                 .cells = {}};
  for (const engine_setup& setup : setups_) {
    CUTPOINT_TRY(auto cell, check(job, setup, data, expected, cancel));
    row.cells.push_back(std::move(cell));
  }
  std::vector<double> reads;
  std::vector<round_rates> measured(setups_.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    reads.push_back(read_rate(data));
    for (std::size_t i = 0; i < setups_.size(); ++i) {
      bench_cell& cell = row.cells[i];
      if (cell.outcome != bench_outcome::measured) continue;
      CUTPOINT_TRY(auto timed, run(job, setups_[i], data, expected, cancel, nullptr));
      if (!timed.problem.empty()) {
        cell.outcome = timed.is_unavailable ? bench_outcome::unavailable : bench_outcome::wrong_answer;
        cell.problem = std::move(timed.problem);
        continue;
      }
      measured[i].add(timed.bytes_per_second, reads.back());
    }
  }
  row.read_bytes_per_second = median(reads);
  const device_rates* const device = first_device(job);
  for (std::size_t i = 0; i < setups_.size(); ++i) {
    bench_cell& cell = row.cells[i];
    measured[i].finish(cell);
    if (!cell.bytes_per_second || device == nullptr || !uses_device(setups_[i].where)) continue;
    cell.of_link = ratio(cell.bytes_per_second, device->link_in);
    cell.of_device = ratio(cell.bytes_per_second, kernel_rate(*device));
  }
  return row;
}

}  // namespace cutpoint::cli
