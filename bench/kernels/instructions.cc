// cutpoint_instructions: counts the instructions that each back end takes for a byte, by the time-stamp counter of an emulator
// (bench/kernels/count_instructions). A processor's counter counts time; the program then says so and exits with 1. The rows
// are those of `cutpoint bench`, and answers are compared before instructions are counted.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "bench/kernels/instruction_counter.h"
#include "build_info.h"
#include "cli/bench/jobs.h"

namespace cutpoint::bench {

namespace {

struct options {
  std::string size = "4M";
  int rounds = 2;
  bool shows_ticks = false;
};

/// One pass over the data. It is not inlined, so that a profiler can count it alone.
[[gnu::noinline]] void pass(const timed_work& work, std::uint64_t data_bytes) {
  for (std::uint64_t position = 0; position < data_bytes;) position = work(position);
}

/// Returns the minimum of the rounds. In the other rounds the operating system's instructions were counted too.
std::uint64_t ticks_of(const timed_work& work, std::uint64_t data_bytes, int rounds) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t begin = ticks();
    pass(work, data_bytes);
    least = std::min(least, ticks() - begin);
  }
  return least;
}

result<std::string> cell(const cli::bench_contender& contender, byte_span data, int rounds) {
  switch (contender.outcome) {
    case cli::bench_outcome::measured:
      return fmt::format("{:.3f}", static_cast<double>(ticks_of(contender.work, data.size(), rounds)) /
                                       static_cast<double>(data.size()));
    case cli::bench_outcome::no_kernel:
      return std::string("=");
    case cli::bench_outcome::does_not_run:
      return std::string("-");
    case cli::bench_outcome::unavailable:
    case cli::bench_outcome::wrong_answer:
      break;
  }
  return status{status_code::backend_failure, fmt::format("{} {}", to_string(contender.where), contender.problem)};
}

result<std::string> row(const cli::bench_job& job, byte_span data, int rounds) {
  const auto contest = cli::prepare(job, data);
  if (!contest) return contest.error();
  std::string line = fmt::format("{:<15} {:<20}", job.name, job.size);
  for (const cli::bench_contender& contender : contest->contenders) {
    const auto text = cell(contender, data, rounds);
    if (!text) return status{text.error().code(), fmt::format("{}: {}", job.name, text.error().message())};
    line += fmt::format(" {:>9}", *text);
  }
  return line;
}

/// Returns the table as text. It is printed after all counting, since a console takes instructions too.
result<std::string> table(const options& settings, const cli::bench_job_options& wanted) {
  const auto size = parse_size(settings.size);
  if (!size) return status{size.error().code(), fmt::format("--bytes: {}", size.error().message())};
  if (*size == 0) return status{status_code::invalid_argument, "--bytes must be at least 1"};
  const tick_trial trial = try_ticks();
  if (!trial.counts_instructions() && !settings.shows_ticks) {
    return status{status_code::unavailable,
                  fmt::format("the time-stamp counter counts no instructions here, {:.3f} and {:.3f} ticks for one; "
                              "bench/kernels/count_instructions runs this in an emulator",
                              trial.of_adding, trial.of_multiplying)};
  }
  const auto jobs = wanted.kernel_jobs();
  if (!jobs) return jobs.error();
  const aligned_bytes data = aligned_bytes::random(*size);

  std::string out = fmt::format(
      "commit {}, {}, {}; {} of random bytes; the least of {} passes\n{} a byte; {:.4f} and {:.4f} ticks for one "
      "instruction\n"
      "=  no kernel of its own, same as scalar\n\n{:<15} {:<20}",
      build_commit, build_compiler, build_flags, format_size(*size), settings.rounds,
      trial.counts_instructions() ? "instructions" : "TICKS OF A CLOCK, NOT INSTRUCTIONS,", trial.of_adding,
      trial.of_multiplying, "", "sizes");
  for (const backend_info& b : backends()) out += fmt::format(" {:>9}", b.name);
  out += '\n';
  for (const cli::bench_job& job : *jobs) {
    const auto line = row(job, data.view(), settings.rounds);
    if (!line) return line.error();
    out += *line + '\n';
  }
  return out;
}

int main(int argc, char** argv) {
  options settings;
  cli::bench_job_options wanted;
  CLI::App app("Counts the instructions that each back end takes for a byte, in an emulator whose clock counts them",
               "cutpoint_instructions");
  app.add_option("--bytes", settings.size, "size of the data, with suffix K or M")->capture_default_str();
  app.add_option("--rounds", settings.rounds, "passes over the data; the smallest count is shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--ticks", settings.shows_ticks,
               "show ticks even if they are not instructions, for use with a profiler");
  wanted.add_to(app);
  CLI11_PARSE(app, argc, argv);
  const auto page = table(settings, wanted);
  if (page) {
    fmt::print("{}", *page);
  } else {
    fmt::print(stderr, "cutpoint_instructions: {}\n", page.error().message());
  }
  return page ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
