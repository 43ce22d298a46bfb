// `cutpoint bench`: measures the kernels of each back end, and the engine by the processor, by a GPU and by both,
// beside a plain read of the same memory.
// Measures job after job: kernels in memory and in the cache, then the engine.
#include <algorithm>
#include <string_view>
#include <utility>

#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "cli/bench/measure.h"
#include "cli/common/output.h"
#include "cli/costs/costs.h"
#include "cli/inputs/trace_file.h"
#include "cli/options/chunking_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class bench_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  struct job_lists {
    std::vector<bench_job> kernels;
    std::vector<engine_job> engine;
  };

  [[nodiscard]] result<bench_facts> facts() const;
  [[nodiscard]] result<job_lists> checked_jobs(const bench_facts& facts) const;
  [[nodiscard]] result<exit_code> run(job_lists& jobs, bench_facts facts, const console& say) const;
  [[nodiscard]] status check_files(const output& out, const trace_file* trace) const;
  [[nodiscard]] status measure_kernels(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                       const console& say) const;
  [[nodiscard]] status measure_engine(std::vector<engine_job>& jobs, byte_span data, bench_facts& facts,
                                      trace_file* trace, const console& say) const;
  [[nodiscard]] exit_code write_report(const bench_facts& facts, output& out, const console& say) const;

  bool is_cpu_ = false;
  bool is_kernels_ = false;
  bool is_engine_ = false;
  bench_job_options jobs_;
  std::string bytes_ = "256M";
  std::vector<std::string> files_;
  std::string rounds_ = "5";
  thread_options threads_;
  trace_option trace_;
  output_option output_;
  bool is_json_ = false;
  verbosity verbosity_ = verbosity::normal;
};

constexpr std::uint64_t least_data = 64 * KiB;
constexpr std::uint64_t most_rounds = 1000;
constexpr std::uint64_t usual_l2_half = 256 * KiB;
constexpr double least_chunks = 4;

std::uint64_t l2_half(const topology& machine) {
  const auto l2 = std::find_if(machine.caches.begin(), machine.caches.end(), [](const cache_info& cache) {
    return cache.level == 2 && cache.bytes >= 2 * least_data;
  });
  return l2 != machine.caches.end() ? l2->bytes / 2 : usual_l2_half;
}

std::uint64_t largest_cache(const topology& machine) {
  std::uint64_t bytes = 0;
  for (const cache_info& cache : machine.caches) bytes = std::max(bytes, cache.bytes);
  return bytes;
}

bool has_few_chunks(const bench_row& row, std::uint64_t bytes) {
  return row.mean_bytes && *row.mean_bytes * least_chunks > static_cast<double>(bytes);
}

std::string named(const bench_job& job) { return job.size.empty() ? job.name : job.name + ' ' + job.size; }

std::string named(const engine_job& job) { return fmt::format("{} {} {}", job.name, job.size, job.hash); }

bool is_wrong(const bench_cell& cell) { return cell.outcome == bench_outcome::wrong_answer; }

template <class Row>
bool has_wrong(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return std::any_of(row.cells.begin(), row.cells.end(), is_wrong); });
}

}  // namespace

void bench_command::add_options(option_list& options) {
  options.add_flag("--kernels", is_kernels_, "Measure only kernels: each back end of the processor, in one thread");
  options.add_flag("--engine", is_engine_, "Measure only the engine: cutting and fingerprinting on all threads");
  options.add_flag("--cpu", is_cpu_, "Do not use a GPU");
  jobs_.add_to(options);
  options.add_value("--bytes", bytes_, "SIZE", "Bytes of data in memory, at least 64K");
  options.add_value("--data", files_, "FILE",
                    "Measure on the first bytes of this file instead of random bytes (repeatable)");
  options.add_value("--rounds", rounds_, "N", "Rounds, 1 to 1000; the results are medians of the rounds");
  threads_.add_to(options);
  trace_.add_to(options);
  options.add_flag("--json", is_json_, "Print the results as JSON");
  output_.add_to(options);
  options.add_flag(
      "-q,--quiet", [this] { verbosity_ = verbosity::quiet; }, "Print only errors");
}

/// Returns the settings of the run, without results.
result<bench_facts> bench_command::facts() const {
  CUTPOINT_TRY(const auto bytes, checked_size("--bytes", bytes_, least_data));
  CUTPOINT_TRY(const auto rounds, checked_number("--rounds", rounds_, 1, most_rounds));
  engine_options threads{.placement = is_cpu_ ? thread_placement::none : thread_placement::devices};
  CUTPOINT_RETURN_IF_FAILED(threads_.set(threads));
  const bool is_all = is_kernels_ == is_engine_;
  const std::string_view of_engine = trace_.is_given() ? "--trace" : threads_.first_option();
  if (is_kernels_ && !is_all && !of_engine.empty()) {
    return usage_error(fmt::format("{} is for the engine, which --kernels does not measure", of_engine));
  }
  return bench_facts{.processor_model = {},
                     .files = files_,
                     .data_bytes = bytes,
                     .rounds = rounds,
                     .has_kernels = is_all || is_kernels_,
                     .rows = {},
                     .has_engine = is_all || is_engine_,
                     .threads = threads,
                     .setups = {},
                     .engine_rows = {}};
}

result<bench_command::job_lists> bench_command::checked_jobs(const bench_facts& facts) const {
  job_lists lists;
  if (facts.has_kernels) {
    CUTPOINT_TRY(lists.kernels, jobs_.kernel_jobs());
  }
  if (facts.has_engine) {
    CUTPOINT_TRY(lists.engine, jobs_.engine_jobs());
  }
  return lists;
}

status bench_command::measure_kernels(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                      const console& say) const {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const bench_place place : {bench_place::memory, bench_place::l2}) {
      if (place == bench_place::l2 && has_few_chunks(facts.rows.back(), facts.l2_bytes)) continue;
      if (say.shows_progress()) {
        say.progress(fmt::format("{} of {}: {}, {}", i + 1, jobs.size(), named(jobs[i]), to_string(place)));
      }
      const byte_span measured = place == bench_place::memory ? data : data.first(facts.l2_bytes);
      auto row = measure(jobs[i], place, measured, facts.rounds, interruption());
      say.progress({});
      if (!row) return row.error();
      for (const bench_cell& cell : row->cells) {
        if (!is_wrong(cell)) continue;
        say.error(fmt::format("{}: back end {} {}", named(jobs[i]), cell.name, cell.problem));
      }
      facts.rows.push_back(*std::move(row));
    }
  }
  return {};
}

status bench_command::measure_engine(std::vector<engine_job>& jobs, byte_span data, bench_facts& facts,
                                     trace_file* trace, const console& say) const {
  if (!facts.has_engine) return {};
  CUTPOINT_TRY(auto threads, engine::make(facts.threads));
  facts.threads.threads = threads.thread_count();
  facts.setups = engine_setups(!is_cpu_);
  const engine_bench bench(threads, facts.setups, trace);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (say.shows_progress()) say.progress(fmt::format("engine, {} of {}: {}", i + 1, jobs.size(), named(jobs[i])));
    if (!is_cpu_ && jobs[i].problem.empty())
      jobs[i].feed.rates = expected_rates(jobs[i].feed, facts.threads.threads, say);
    auto row = bench.measure(jobs[i], data, facts.rounds, interruption());
    say.progress({});
    if (!row) return row.error();
    for (const bench_cell& cell : row->cells) {
      if (is_wrong(cell)) say.error(fmt::format("{}: {} {}", named(jobs[i]), cell.name, cell.problem));
    }
    facts.engine_rows.push_back(*std::move(row));
  }
  return {};
}

result<exit_code> bench_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(auto asked, facts());
  CUTPOINT_TRY(auto jobs, checked_jobs(asked));
  return run(jobs, std::move(asked), say);
}

/// Checks that neither the results nor the trace are written to the data.
status bench_command::check_files(const output& out, const trace_file* trace) const {
  for (const std::string& file : files_) {
    if (out.is_same_file(file))
      return usage_error(fmt::format("{}: is part of the data, and the results would be written to it", file));
    if (trace != nullptr && trace->file().is_same_file(file)) {
      return usage_error(fmt::format("{}: is part of the data, and the trace would be written to it", file));
    }
  }
  return check_different_files(trace, out);
}

result<exit_code> bench_command::run(job_lists& jobs, bench_facts facts, const console& say) const {
  CUTPOINT_TRY(auto out, output_.open());
  CUTPOINT_TRY(const auto trace, trace_.open());
  CUTPOINT_RETURN_IF_FAILED(check_files(out, trace.get()));
  const topology machine = discover_topology();
  if (!machine.problem.empty()) say.warning(machine.problem);
  CUTPOINT_TRY(const auto data, files_.empty() ? result<aligned_bytes>(aligned_bytes::random(facts.data_bytes))
                                               : aligned_bytes::read_files(files_, facts.data_bytes, interruption()));
  if (data.view().size() < least_data) {
    return status(status_code::io_error, fmt::format("--data: too little to measure: {}; give at least {}",
                                                     size_with_unit(data.view().size()), format_size(least_data)));
  }
  facts.processor_model = machine.processor_model;
  facts.data_bytes = data.view().size();
  facts.l2_bytes = std::min(facts.data_bytes, l2_half(machine));
  if (facts.data_bytes < 2 * largest_cache(machine)) {
    say.warning(fmt::format("{} of data may stay in a cache of {}: choose more by --bytes",
                            size_with_unit(facts.data_bytes), size_with_unit(largest_cache(machine))));
  }

  status outcome = measure_kernels(jobs.kernels, data.view(), facts, say);
  if (outcome.ok()) outcome = measure_engine(jobs.engine, data.view(), facts, trace.get(), say);
  const bool is_traced = finish(trace.get(), say);
  facts.is_interrupted = outcome.code() == status_code::cancelled;
  if (!outcome.ok() && !facts.is_interrupted) return outcome;
  const exit_code written = write_report(facts, out, say);
  return written == exit_code::done && !is_traced ? exit_code::input_failed : written;
}

exit_code bench_command::write_report(const bench_facts& facts, output& out, const console& say) const {
  if (facts.is_interrupted) say.error("interrupted; the table covers what was measured");
  const status outcome = write_all(out, is_json_ ? bench_json(facts) : bench_report(facts));
  if (!outcome.ok()) say.error(outcome.message());
  if (facts.is_interrupted) return exit_code::interrupted;
  const bool is_right = !has_wrong(facts.rows) && !has_wrong(facts.engine_rows);
  return outcome.ok() && is_right ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_bench_command() { return std::make_unique<bench_command>(); }

}  // namespace cutpoint::cli
