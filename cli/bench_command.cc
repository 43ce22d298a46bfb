// Job after job, in memory and then in the cache.
#include "cli/bench_command.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <cutpoint/text.h>
#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "cli/bench_data.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t least_data = 64 * KiB;
constexpr std::uint64_t most_rounds = 1000;
constexpr std::uint64_t usual_l2_half = 256 * KiB;
constexpr double least_chunks = 4;

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

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

/// Whether so few chunks are in `bytes` that their speed says nothing of others.
bool has_few_chunks(const bench_row& row, std::uint64_t bytes) {
  return row.mean_bytes && *row.mean_bytes * least_chunks > static_cast<double>(bytes);
}

std::string named(const bench_job& job) { return job.size.empty() ? job.name : job.name + ' ' + job.size; }

bool is_wrong(const bench_cell& cell) { return cell.outcome == bench_outcome::wrong_answer; }

}  // namespace

CLI::App* bench_command::add_to(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "What each back end does a second, beside a plain read of the memory");
  command->add_flag("--cpu", is_cpu_,
                    "The processor's back ends, in one thread; all that there is, so also the default");
  jobs_.add_to(*command);
  command->add_option("--bytes", bytes_, "Bytes of data in memory, from 64K")->type_name("SIZE")->capture_default_str();
  command->add_option("--data", file_, "Measure on the first bytes of a file instead of random ones")
      ->type_name("FILE");
  command->add_option("--rounds", rounds_, "Rounds, of which medians are shown")->type_name("N")->capture_default_str();
  command->add_flag("--json", is_json_, "As JSON");
  command->add_option("-o,--output", output_, "Write to a file instead of standard output")->type_name("FILE");
  command->add_flag_callback(
      "-q,--quiet", [this] { verbosity_ = verbosity::quiet; }, "Say errors only");
  return command;
}

/// What the options say, but for the jobs.
result<bench_facts> bench_command::facts() const {
  const auto bytes = parse_size(bytes_);
  if (!bytes) return wrong(fmt::format("--bytes: {}", bytes.error().message()));
  if (*bytes < least_data)
    return wrong(fmt::format("--bytes {}: must be at least {}", bytes_, format_size(least_data)));
  const auto rounds = parse_number(rounds_);
  if (!rounds) return wrong(fmt::format("--rounds: {}", rounds.error().message()));
  if (*rounds < 1 || *rounds > most_rounds) {
    return wrong(fmt::format("--rounds {}: must be between 1 and {}", rounds_, most_rounds));
  }
  return bench_facts{
      .processor_model = {}, .file = file_.value_or(""), .data_bytes = *bytes, .rounds = *rounds, .rows = {}};
}

status bench_command::measure_all(const std::vector<bench_job>& jobs, byte_span data, bench_facts& facts,
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
        say.error(fmt::format("{}: back end {} {}", named(jobs[i]), to_string(cell.where), cell.problem));
      }
      facts.rows.push_back(*std::move(row));
    }
  }
  return {};
}

exit_code bench_command::run() {
  const console say(verbosity_);
  auto given = facts();
  if (!given) {
    say.error(given.error().message());
    return exit_code::wrong_usage;
  }
  const auto jobs = jobs_.jobs();
  if (!jobs) {
    say.error(jobs.error().message());
    return exit_code::wrong_usage;
  }
  return run(*jobs, *std::move(given), say);
}

exit_code bench_command::run(const std::vector<bench_job>& jobs, bench_facts facts, const console& say) const {
  const auto fail = [&say](const status& why) {
    say.error(why.message());
    return why.code() == status_code::cancelled ? exit_code::interrupted : exit_code::input_failed;
  };
  auto out = output::open(output_);
  if (!out) return fail(out.error());
  if (file_ && out->is_same_file(*file_)) {
    say.error(fmt::format("{}: is the data, and the results would be written to it", *file_));
    return exit_code::wrong_usage;
  }
  const auto machine = discover_topology();
  if (!machine) return fail(machine.error());
  const auto data = file_ ? bench_data::of_file(*file_, facts.data_bytes, interruption())
                          : result<bench_data>(bench_data::random(facts.data_bytes));
  if (!data) return fail(data.error());
  facts.processor_model = machine->processor_model;
  facts.data_bytes = data->bytes().size();
  facts.l2_bytes = std::min(facts.data_bytes, l2_half(*machine));
  if (facts.data_bytes < 2 * largest_cache(*machine)) {
    say.warning(fmt::format("{} of data may stay in a cache of {}: --bytes for more", format_size(facts.data_bytes),
                            format_size(largest_cache(*machine))));
  }

  status outcome = measure_all(jobs, data->bytes(), facts, say);
  facts.is_interrupted = outcome.code() == status_code::cancelled;
  if (!outcome.ok() && !facts.is_interrupted) return fail(outcome);
  if (facts.is_interrupted) say.error("interrupted; the table is of what was measured");
  outcome = out->begin();
  if (outcome.ok()) outcome = out->write(is_json_ ? bench_json(facts) : bench_report(facts));
  if (outcome.ok()) outcome = out->finish();
  if (!outcome.ok()) say.error(outcome.message());
  if (facts.is_interrupted) return exit_code::interrupted;
  const bool has_wrong = std::any_of(facts.rows.begin(), facts.rows.end(), [](const bench_row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), is_wrong);
  });
  return outcome.ok() && !has_wrong ? exit_code::done : exit_code::input_failed;
}

}  // namespace cutpoint::cli
