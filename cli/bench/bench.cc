// `cutpoint bench`: measures the kernels of each back end, and the engine by the processor, by a GPU and by both,
// beside a plain read of the same memory.
// Measures job after job: kernels in memory and in the cache, then the engine.
#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "cli/bench/report.h"
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

  /// Where results go.
  struct outputs {
    output& report;
    output* chart;               ///< null if none is wanted
    std::optional<json> before;  ///< an earlier report to compare with
  };

  [[nodiscard]] json deciding_options() const;
  [[nodiscard]] status use_options_of(const json& before);
  [[nodiscard]] result<backend> checked_backend() const;
  [[nodiscard]] status use_device(bench_facts& facts, job_lists& jobs) const;
  [[nodiscard]] result<bench_facts> facts(const std::optional<json>& before) const;
  [[nodiscard]] result<job_lists> checked_jobs(bench_facts& facts);
  [[nodiscard]] result<exit_code> run(job_lists& jobs, bench_facts facts, std::optional<json> before,
                                      const console& say) const;
  [[nodiscard]] status check_files(const output& out, const output* chart, const trace_file* trace) const;
  [[nodiscard]] status show(const std::string& text, outputs& out) const;
  [[nodiscard]] status measure_kernels(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                       outputs& out, const console& say) const;
  [[nodiscard]] status measure_engine(std::vector<engine_job>& jobs, byte_span data, bench_facts& facts,
                                      trace_file* trace, outputs& out, const console& say) const;
  [[nodiscard]] status write_report(const bench_facts& facts, outputs& out) const;

  bool is_cpu_ = false;
  bool is_kernels_ = false;
  bool is_engine_ = false;
  bool is_quick_ = false;
  bool is_full_ = false;
  std::optional<std::string> backend_;
  std::string device_ = "0";
  bench_job_options jobs_;
  std::optional<std::string> bytes_;
  std::vector<std::string> files_;
  std::string rounds_ = "5";
  thread_options threads_;
  trace_option trace_;
  output_option output_;
  bool is_json_ = false;
  std::string format_name_ = "text";
  bench_format format_ = bench_format::text;
  std::optional<std::string> chart_;
  std::optional<std::string> compare_;
  option_list* options_ = nullptr;
  verbosity verbosity_ = verbosity::normal;
};

/// The options that decide what is measured and how, which --compare takes from the earlier run; --quick and --full do so too.
constexpr std::array<std::string_view, 14> deciding = {
    "--kernels", "--engine", "--cpu",   "--backend", "--device", "--algorithm", "--profile",
    "--hash",    "--size",   "--bytes", "--data",    "--rounds", "--threads",   "--placement"};

constexpr std::uint64_t least_data = 64 * KiB;
constexpr std::uint64_t most_rounds = 1000;
constexpr std::string_view quick_data = "64M";
constexpr std::string_view full_data = "256M";
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

/// Returns whether a report is of a quick run.
bool is_quick_report(const json& report) {
  const json* const quick = report.find("quick");
  return quick != nullptr && json_line(*quick) == json_line(true);
}

/// Returns the value of an option: true for a flag.
json value_of(const option& each) {
  if (const auto* const text = std::get_if<std::string*>(&each.target)) return **text;
  if (const auto* const text = std::get_if<std::optional<std::string>*>(&each.target)) return or_null(**text);
  if (const auto* const texts = std::get_if<std::vector<std::string>*>(&each.target)) return **texts;
  return true;
}

/// Gives an option a value that `value_of` returned, and nothing else.
void set_value(const option& each, const json& value) {
  if (const auto* const flag = std::get_if<bool*>(&each.target)) **flag = true;
  const auto* const texts = std::get_if<std::vector<std::string>*>(&each.target);
  for (const json& element : texts != nullptr && value.is_array() ? value.elements() : std::vector<json>()) {
    if (element.text() != nullptr) (*texts)->push_back(*element.text());
  }
  if (value.text() == nullptr) return;
  if (const auto* const text = std::get_if<std::string*>(&each.target)) **text = *value.text();
  if (const auto* const text = std::get_if<std::optional<std::string>*>(&each.target)) **text = *value.text();
}

/// Returns what the engine is measured by: one back end, or what `automatic` chooses from.
std::vector<engine_setup> setups_of(backend where, bool has_devices) {
  if (where == backend::automatic) return engine_setups(has_devices);
  return {{.name = to_string(where), .where = where}};
}

bool is_wrong(const bench_cell& cell) { return cell.outcome == bench_outcome::wrong_answer; }

template <class Row>
bool has_wrong(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return std::any_of(row.cells.begin(), row.cells.end(), is_wrong); });
}

}  // namespace

void bench_command::add_options(option_list& options) {
  options_ = &options;
  option& quick = options.add_flag("--quick", is_quick_,
                                   "Measure rows at equal mean chunks by the back end that auto takes: under a minute; "
                                   "the default, unless an option says what is measured or --json is given");
  options.add_flag("--full", is_full_, "Measure everything by every back end: many minutes").excludes(quick);
  options.add_flag(
      "--kernels", is_kernels_,
      "Measure only kernels: each back end of the processor, in one thread, or with --backend cuda a GPU's");
  options.add_flag("--engine", is_engine_, "Measure only the engine: cutting and fingerprinting on all threads");
  options.add_flag("--cpu", is_cpu_, "Do not use a GPU");
  options.add_value("--backend", backend_, "NAME",
                    "Time only this back end, or with auto the one that it takes; the answers of all are checked");
  options.add_value("--device", device_, "N", "The GPU to measure, by its number in 'cutpoint info' (default: 0)");
  jobs_.add_to(options);
  options.add_value(
      "--bytes", bytes_, "SIZE",
      fmt::format("Bytes of data in memory, at least 64K (default: {}, or {} without --quick)", quick_data, full_data));
  options.add_value("--data", files_, "FILE",
                    "Measure on the first bytes of this file instead of random bytes (repeatable)");
  options.add_value("--rounds", rounds_, "N", "Rounds, 1 to 1000; the results are medians of the rounds");
  threads_.add_to(options);
  trace_.add_to(options);
  option& format = options.add_value("--format", format_name_, "NAME", "Output format: text, markdown, csv or json")
                       .one_of(names_in(bench_formats));
  options
      .add_flag(
          "--json",
          [this] {
            is_json_ = true;
            format_name_ = "json";
          },
          "Print the results as JSON, of everything unless --quick is given")
      .excludes(format);
  options.add_value("--chart", chart_, "FILE", "Draw the results into this file, as SVG");
  options.add_value(
      "--compare", compare_, "FILE",
      "Compare with an earlier run, of which this file has the JSON; options that decide what is measured, "
      "and how, are taken from it, and others are refused");
  output_.add_to(options);
  options.add_flag(
      "-q,--quiet", [this] { verbosity_ = verbosity::quiet; }, "Print only errors");
}

/// Returns those that were given.
json bench_command::deciding_options() const {
  json values = json::object();
  for (const std::string_view name : deciding) {
    const option& each = options_->find(name);
    if (each.is_given) values[name] = value_of(each);
  }
  return values;
}

/// Takes what is not given from the report of an earlier run. Errors: invalid_argument, for what is given otherwise.
status bench_command::use_options_of(const json& before) {
  const auto other = [this](std::string_view name) {
    return usage_error(fmt::format(
        "{}: the run of --compare {} was measured otherwise; leave the option out, and it is as it was then", name,
        *compare_));
  };
  if (is_quick_ && !is_quick_report(before)) return other("--quick");
  if (is_full_ && is_quick_report(before)) return other("--full");
  const json* const earlier = before.find("options");
  if (earlier == nullptr) return {};  // a report of an older version
  for (const std::string_view name : deciding) {
    const option& each = options_->find(name);
    const json* const value = earlier->find(name);
    if (each.is_given && (value == nullptr || json_line(*value) != json_line(value_of(each)))) return other(name);
    if (!each.is_given && value != nullptr) set_value(each, *value);
  }
  return {};
}

/// Returns the back end that is timed; `automatic` stands for all of them if `--backend` is not given. Whether there is a GPU for
/// kernels is looked at last, so that other mistakes are told where there is none.
result<backend> bench_command::checked_backend() const {
  if (!backend_ || *backend_ == to_string(backend::automatic)) return backend::automatic;
  if (*backend_ == to_string(backend::cuda) && is_kernels_ && !is_cpu_) return backend::cuda;
  CUTPOINT_TRY(const auto where, parse_backend(*backend_));
  if (uses_device(where) && (is_cpu_ || is_kernels_)) {
    return usage_error(fmt::format("--backend {} cannot be given with {}", *backend_, is_cpu_ ? "--cpu" : "--kernels"));
  }
  return where;
}

/// Takes the GPU that is asked for, and of the kernels those that a GPU is measured at. Errors: invalid_argument, if there is none.
status bench_command::use_device(bench_facts& facts, job_lists& jobs) const {
  CUTPOINT_TRY(const auto where, checked_backend());
  const bool is_given = options_->find("--device").is_given;
  const bool has_kernels = where == backend::cuda && facts.has_kernels;
  CUTPOINT_TRY(const auto number, checked_number("--device", device_, 0, most_devices - 1));
  const int device = static_cast<int>(number);
  if (is_given && (is_cpu_ || (!facts.has_engine && !has_kernels))) {
    return usage_error(fmt::format("--device {}: no GPU is measured", device_));
  }
  if (has_kernels && options_->find("--hash").is_given && !facts.has_engine) {
    return usage_error("--hash: a GPU's kernels are measured at cuts alone");
  }
  if (!is_given && !has_kernels) return {};
  const auto here = gpus();
  const status there = check_gpus(is_given ? fmt::format("--device {}", device_) : "--backend cuda", {device}, here);
  if (!here) return usage_error(fmt::format("{}. {}", there.message(), planning_hint));
  if (!there.ok()) return there;
  for (engine_job& job : jobs.engine) job.feed.devices = {device};
  if (!has_kernels) return {};
  facts.device = device;
  facts.device_name = std::ranges::find(*here, device, &gpu_info::index)->name;
  std::erase_if(jobs.kernels, [](const bench_job& job) {
    return job.kind != bench_kind::cuts || job.timed.empty() || !job.problem.empty();
  });
  return {};
}

/// Returns the settings of the run, without results.
result<bench_facts> bench_command::facts(const std::optional<json>& before) const {
  const bool is_named = is_full_ || is_kernels_ || is_engine_ || jobs_.is_given() || is_json_;
  const bool is_quick = before ? is_quick_report(*before) : is_quick_ || !is_named;
  CUTPOINT_TRY(const auto where, checked_backend());
  CUTPOINT_TRY(const auto bytes,
               checked_size("--bytes", bytes_.value_or(std::string(is_quick ? quick_data : full_data)), least_data));
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
                     .is_quick = is_quick,
                     .is_sorted = is_quick || backend_.has_value(),
                     .has_kernels = is_kernels_ || (is_all && !uses_device(where)),
                     .rows = {},
                     .has_engine = is_all || is_engine_,
                     .threads = threads,
                     .setups = is_all || is_engine_ ? setups_of(where, !is_cpu_) : std::vector<engine_setup>(),
                     .engine_rows = {}};
}

result<bench_command::job_lists> bench_command::checked_jobs(bench_facts& facts) {
  if (facts.is_quick) jobs_.use_equal_means();
  std::vector<backend> timed;
  if (facts.is_sorted) {
    CUTPOINT_TRY(const auto where, checked_backend());
    timed = {where};
  } else {
    std::ranges::transform(processor_backends(), std::back_inserter(timed), &backend_info::kind);
  }
  job_lists lists;
  if (facts.has_kernels) {
    CUTPOINT_TRY(lists.kernels, jobs_.kernel_jobs(timed));
  }
  if (facts.has_engine) {
    CUTPOINT_TRY(lists.engine, jobs_.engine_jobs());
  }
  for (const bench_job& job : lists.kernels) facts.name_width = std::max(facts.name_width, label(job).size());
  for (const engine_job& job : lists.engine) facts.name_width = std::max(facts.name_width, label(job).size());
  return lists;
}

/// Writes text that does not wait for other results. Errors: as for `output::flush`.
status bench_command::show(const std::string& text, outputs& out) const {
  if (format_ != bench_format::text) return {};
  CUTPOINT_RETURN_IF_FAILED(out.report.write(text));
  return out.report.flush();
}

status bench_command::measure_kernels(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
                                      outputs& out, const console& say) const {
  const bool is_of_device = !facts.device_name.empty();
  for (const bench_place place : {bench_place::memory, bench_place::l2, bench_place::device}) {
    if (is_of_device != (place == bench_place::device)) continue;
    if (place == bench_place::l2 && facts.is_quick) continue;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (place == bench_place::l2 && has_few_chunks(facts.rows[i], facts.l2_bytes)) continue;
      if (say.shows_progress()) {
        say.progress(fmt::format("{} of {}: {}, {}", i + 1, jobs.size(), label(jobs[i]), to_string(place)));
      }
      const byte_span measured = place == bench_place::l2 ? data.first(facts.l2_bytes) : data;
      auto row = is_of_device ? measure_device(jobs[i], device_cutting_work(*jobs[i].cuts, data, facts.device), data,
                                               facts.rounds, interruption())
                              : measure(jobs[i], place, measured, facts.rounds, interruption());
      say.progress({});
      if (!row) return row.error();
      for (const bench_cell& cell : row->cells) {
        if (!is_wrong(cell)) continue;
        say.error(fmt::format("{}: back end {} {}", label(jobs[i]), cell.name, cell.problem));
      }
      facts.rows.push_back(*std::move(row));
      CUTPOINT_RETURN_IF_FAILED(show(latest_row_text(facts), out));
    }
  }
  return {};
}

status bench_command::measure_engine(std::vector<engine_job>& jobs, byte_span data, bench_facts& facts,
                                     trace_file* trace, outputs& out, const console& say) const {
  if (!facts.has_engine) return {};
  CUTPOINT_TRY(auto threads, engine::make(facts.threads));
  facts.threads.threads = threads.thread_count();
  const engine_bench bench(threads, facts.setups, trace);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (say.shows_progress()) say.progress(fmt::format("engine, {} of {}: {}", i + 1, jobs.size(), label(jobs[i])));
    if (uses_device(facts.setups.back().where) && jobs[i].problem.empty())
      jobs[i].feed.rates = expected_rates(jobs[i].feed, facts.threads.threads, say);
    auto row = bench.measure(jobs[i], data, facts.rounds, interruption());
    say.progress({});
    if (!row) return row.error();
    for (const bench_cell& cell : row->cells) {
      if (is_wrong(cell)) say.error(fmt::format("{}: {} {}", label(jobs[i]), cell.name, cell.problem));
    }
    facts.engine_rows.push_back(*std::move(row));
    CUTPOINT_RETURN_IF_FAILED(show(latest_engine_row_text(facts), out));
  }
  return {};
}

result<exit_code> bench_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(format_, chosen("format", format_name_, bench_formats));
  if (compare_ && (format_ == bench_format::csv || format_ == bench_format::json)) {
    return usage_error(fmt::format("--compare prints text or Markdown, not {}", format_name_));
  }
  std::optional<json> before;
  if (compare_) {
    CUTPOINT_TRY(before, read_report(*compare_));
    CUTPOINT_RETURN_IF_FAILED(use_options_of(*before));
  }
  CUTPOINT_TRY(auto asked, facts(before));
  CUTPOINT_TRY(auto jobs, checked_jobs(asked));
  CUTPOINT_RETURN_IF_FAILED(use_device(asked, jobs));
  return run(jobs, std::move(asked), std::move(before), say);
}

/// Checks that neither the results nor the trace are written to the data or to each other.
status bench_command::check_files(const output& out, const output* chart, const trace_file* trace) const {
  if (chart != nullptr && out.is_same_file(*chart_))
    return usage_error(fmt::format("--chart {}: is also the output of the results", *chart_));
  for (const std::string& file : files_) {
    if (out.is_same_file(file) || (chart != nullptr && chart->is_same_file(file)))
      return usage_error(fmt::format("{}: is part of the data, and the results would be written to it", file));
    if (trace != nullptr && trace->file().is_same_file(file)) {
      return usage_error(fmt::format("{}: is part of the data, and the trace would be written to it", file));
    }
  }
  return check_different_files(trace, out);
}

result<exit_code> bench_command::run(job_lists& jobs, bench_facts facts, std::optional<json> before,
                                     const console& say) const {
  CUTPOINT_TRY(auto report, output_.open());
  std::optional<output> chart;
  if (chart_) {
    CUTPOINT_TRY(auto picture, output::open(*chart_));
    chart.emplace(std::move(picture));
  }
  outputs out = {report, chart ? &*chart : nullptr, std::move(before)};
  CUTPOINT_TRY(const auto trace, trace_.open());
  CUTPOINT_RETURN_IF_FAILED(check_files(report, out.chart, trace.get()));
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
  if (facts.device_name.empty() && facts.data_bytes < 2 * largest_cache(machine)) {
    say.warning(fmt::format("{} of data may stay in a cache of {}: choose more by --bytes",
                            size_with_unit(facts.data_bytes), size_with_unit(largest_cache(machine))));
  }

  if (format_ == bench_format::text) CUTPOINT_RETURN_IF_FAILED(report.begin());
  status outcome = show(heading_text(facts) + (facts.is_sorted ? "\n" : ""), out);
  if (outcome.ok()) outcome = measure_kernels(jobs.kernels, data.view(), facts, out, say);
  if (outcome.ok()) outcome = measure_engine(jobs.engine, data.view(), facts, trace.get(), out, say);
  const bool is_traced = finish(trace.get(), say);
  facts.is_interrupted = outcome.code() == status_code::cancelled;
  if (!outcome.ok() && !facts.is_interrupted) return outcome;
  if (facts.is_interrupted) say.error("interrupted; the table covers what was measured");
  const status written = write_report(facts, out);
  if (!written.ok()) say.error(written.message());
  if (facts.is_interrupted) return exit_code::interrupted;
  const bool is_right = !has_wrong(facts.rows) && !has_wrong(facts.engine_rows);
  return written.ok() && is_right && is_traced ? exit_code::done : exit_code::input_failed;
}

status bench_command::write_report(const bench_facts& facts, outputs& out) const {
  json report = bench_json(facts);
  report["options"] = deciding_options();
  std::string text = format_ == bench_format::json                          ? json_text(report)
                     : format_ == bench_format::csv                         ? csv_of(report)
                     : facts.is_sorted || format_ == bench_format::markdown ? sorted_tables(report, format_)
                                                                            : std::string();
  if (format_ == bench_format::markdown) text = heading_text(facts) + text;
  if (format_ == bench_format::text || format_ == bench_format::markdown) {
    text += closing_text(facts) + doubt_text(report);
    if (out.before) text += comparison_text(*out.before, report, format_);
  }
  if (format_ == bench_format::text) {  // the rows were written before
    CUTPOINT_RETURN_IF_FAILED(show(text, out));
    CUTPOINT_RETURN_IF_FAILED(out.report.finish());
  } else {
    CUTPOINT_RETURN_IF_FAILED(write_all(out.report, text));
  }
  return out.chart != nullptr ? write_all(*out.chart, chart_of(report, heading_text(facts))) : status();
}

std::unique_ptr<subcommand> make_bench_command() { return std::make_unique<bench_command>(); }

}  // namespace cutpoint::cli
