// cutpoint_simulate: what the engine would do on machines that are not here: lanes of given rates on a virtual clock, with
// the engine's own schedule and cuts. Reads a machine a line, and prints a row of CSV or a line of JSON for each: what it
// was, what was predicted, what came of it.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <cutpoint/costs_json.h>
#include <cutpoint/speed.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/simulation/answer.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t sample_bytes = 64 * MiB + 4093;

struct options {
  std::string costs;
  bool as_json = false;
  bool predicts_only = false;
};

std::string help_of_keys() {
  std::string text =
      "Machines come on standard input, one a line, as words KEY=VALUE; lines that are empty or begin with #\n"
      "are passed over. Rates are in GB/s (10^9 bytes), sizes have suffixes. Keys:\n";
  for (const auto& [key, meaning] : question_keys()) text += fmt::format("  {:<13} {}\n", key, meaning);
  return text + "Exit codes: 0; 1 a run failed, or the output; 2 wrong usage, or a line that is named.";
}

int fail(int code, std::string_view message) {
  fmt::print(stderr, "cutpoint_simulate: {}\n", message);
  return code;
}

/// The costs in a file of `cutpoint info --json`.
result<cost_model> read_costs(const std::string& path) {
  const auto wrong = [&](std::string_view why) {
    return status(status_code::invalid_argument, fmt::format("--costs {}: {}", path, why));
  };
  std::ifstream file(path);
  if (!file) return wrong("cannot be read");
  const auto read = nlohmann::ordered_json::parse(file, nullptr, false);
  if (read.is_discarded() || !read.is_object()) return wrong("is no JSON of cutpoint info --json");
  if (!read.contains("costs") || read["costs"].is_null())
    return wrong("has no costs: cutpoint info --calibrate --json");
  auto made = parse_costs(read["costs"].dump());
  if (!made) return wrong(made.error().message());
  return made;
}

int answer(const options& given, const cost_model& costs, std::istream& in) {
  const aligned_bytes sample = aligned_bytes::random(given.predicts_only ? 0 : sample_bytes);
  if (!given.as_json) fmt::print("{}", csv_header());
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto asked = read_question(line, costs);
    if (!asked) return fail(2, fmt::format("line {}: {}", number, asked.error().message()));
    const auto made = given.predicts_only ? result<simulation_answer>(predict(*asked)) : run(*asked, sample.view());
    if (!made) {
      const bool is_asked_wrongly = made.error().code() == status_code::invalid_argument;
      return fail(is_asked_wrongly ? 2 : 1, fmt::format("line {}: {}", number, made.error().message()));
    }
    fmt::print("{}", given.as_json ? json_of(*made).dump() + "\n" : csv_row(*made));
    if (std::fflush(stdout) != 0) return fail(1, "the output cannot be written");
  }
  return in.bad() ? fail(1, "the input cannot be read") : 0;
}

}  // namespace

int main(int argc, char** argv) {
  options given;
  CLI::App app("What the engine would do on machines that are not here", "cutpoint_simulate");
  app.add_option("--costs", given.costs, "What `cutpoint info --json` wrote: what lines say nothing of is by that")
      ->type_name("FILE");
  app.add_flag("--json", given.as_json, "A line of JSON for each machine, with rates and predictions, not CSV");
  app.add_flag("--predict", given.predicts_only, "Predict only, do not run");
  app.footer(help_of_keys());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  }
  const auto costs = given.costs.empty() ? result<cost_model>(cost_model()) : read_costs(given.costs);
  if (!costs) return fail(2, costs.error().message());
  return answer(given, *costs, std::cin);
}

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
