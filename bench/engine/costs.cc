// cutpoint_costs: how long calibration takes, how far repeated calibrations differ, and what the cost model predicts
// for jobs on the processor beside what the engine then does with a file.
//
// Rounds take turns among all jobs and numbers of threads; medians are shown, and ratios are of the same program's run.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/cost_model.h>
#include <cutpoint/dedup.h>
#include <cutpoint/engine.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

struct options {
  std::string file;
  int calibrations = 5;
  int rounds = 5;
  std::vector<std::string> names = {"gear", "fastcdc", "rabin", "ae-max", "seqcdc-inc", "casync"};
  std::vector<std::string> fingerprints = {"sha1", "sha256", "blake3", "xxh3"};
  std::vector<std::uint64_t> threads = {1, 2};
};

struct job {
  std::string name;
  std::string fingerprint;
  std::uint64_t threads = 1;
  feed_options feed;
  plan_prediction predicted;
  std::vector<double> rates = {};      ///< of each round, by the clock
  std::vector<double> cpu_rates = {};  ///< if its threads had had a processor each all the time
};

double process_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The rates of a model by name.
std::map<std::string, double> rates_of(const cost_model& model) {
  std::map<std::string, double> rates = {{"memory: read by one", model.memory.read_by_one},
                                         {"memory: read by all", model.memory.read_by_all},
                                         {"memory: copy", model.memory.copy},
                                         {"memory: page cache", model.memory.page_cache},
                                         {"lanes: together", model.together},
                                         {"lanes: chunks indexed", 1 / model.seconds_of_a_chunk}};
  for (const cut_rate& each : model.processor.cuts) rates["cuts: " + each.cuts] = each.bytes_per_second;
  for (const fingerprint_rate& each : model.processor.fingerprints) {
    rates[fmt::format("fingerprints: {} {} {}", static_cast<int>(each.kind), each.chunk_bytes, each.in_flight)] =
        each.bytes_per_second;
  }
  return rates;
}

/// Of each group of rates, how much the largest of one rate is above its smallest.
void print_spread(const std::vector<cost_model>& models) {
  std::map<std::string, std::vector<double>> by_name;
  for (const cost_model& model : models) {
    for (const auto& [name, rate] : rates_of(model)) by_name[name].push_back(rate);
  }
  std::map<std::string, std::vector<std::pair<double, std::string>>> groups;
  for (const auto& [name, rates] : by_name) {
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    const std::size_t colon = name.find(':');
    groups[name.substr(0, colon)].emplace_back(*most / *least, name.substr(colon + 2));
  }
  fmt::print("\n| rates | number | largest over smallest: median | most | of |\n|---|--:|--:|--:|---|\n");
  for (auto& [group, all] : groups) {
    std::sort(all.begin(), all.end());
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {} |\n", group, all.size(), all[all.size() / 2].first, all.back().first,
               all.back().second);
  }
}

result<std::vector<job>> all_jobs(const options& given, const cost_model& model) {
  std::vector<job> jobs;
  for (const std::string& name : given.names) {
    const auto entry = find_entry(name);
    if (!entry) return entry.error();
    const double mean = sampled_chunk_bytes((*entry)->defaults);
    for (const std::string& fingerprint : given.fingerprints) {
      const auto kind = parse_fingerprint(fingerprint);
      if (!kind) return kind.error();
      for (const std::uint64_t threads : given.threads) {
        const job_rates rates = rates_for(model, {.cuts = (*entry)->defaults,
                                                  .fingerprint = *kind,
                                                  .mean_chunk_bytes = mean,
                                                  .thread_count = threads,
                                                  .devices = {}});
        const feed_options feed{.cuts = (*entry)->defaults, .fingerprint = *kind};
        jobs.push_back({name, fingerprint, threads, feed, predict_plans(rates).front(), {}, {}});
      }
    }
  }
  return jobs;
}

status measure_round(job& measured, const std::string& file) {
  auto lanes = engine::make({.threads = measured.threads});
  if (!lanes) return lanes.error();
  auto source = file_source::open(file);
  if (!source) return source.error();
  dedup_tally tally(measured.feed.fingerprint.kind);
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = process_seconds();
  auto feed = lanes->open(measured.feed, tally);
  if (!feed) return feed.error();
  if (status fed = feed_source(*feed, 0, *source); !fed.ok()) return fed;
  if (status finished = feed->finish(); !finished.ok()) return finished;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu_seconds = process_seconds() - cpu_begin;
  const auto bytes = static_cast<double>(tally.total().bytes);
  measured.rates.push_back(bytes / seconds);
  measured.cpu_rates.push_back(bytes * static_cast<double>(measured.threads) / cpu_seconds);
  return {};
}

status compare(const options& given, const cost_model& model) {
  auto jobs = all_jobs(given, model);
  if (!jobs) return jobs.error();
  for (int round = 0; round < given.rounds; ++round) {
    for (job& each : *jobs) {
      if (status done = measure_round(each, given.file); !done.ok()) return done;
    }
  }
  fmt::print("\n| cuts | fingerprint | threads | predicted, GB/s | bottleneck | measured, GB/s | over predicted |");
  fmt::print(" fastest round | by processor time |\n|---|---|--:|--:|---|--:|--:|--:|--:|\n");
  for (const job& each : *jobs) {
    const double predicted = each.predicted.bytes_per_second;
    const double measured = median(each.rates);
    fmt::print("| {} | {} | {} | {:.2f} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", each.name, each.fingerprint,
               each.threads, predicted / 1e9, each.predicted.limits.empty() ? "-" : each.predicted.limits.front().name,
               measured / 1e9, measured / predicted,
               *std::max_element(each.rates.begin(), each.rates.end()) / predicted, median(each.cpu_rates) / predicted);
  }
  return {};
}

status run(const options& given) {
  const auto machine = discover_topology();
  if (!machine) return machine.error();
  std::vector<cost_model> models;
  std::vector<double> seconds;
  for (int i = 0; i < given.calibrations; ++i) {
    auto made = calibrate(*machine);
    if (!made) return made.error();
    seconds.push_back(made->seconds);
    models.push_back(*std::move(made));
  }
  fmt::print("{}: calibrated {} times, seconds: {:.2f} to {:.2f}, median {:.2f}\n", machine->processor_model,
             given.calibrations, *std::min_element(seconds.begin(), seconds.end()),
             *std::max_element(seconds.begin(), seconds.end()), median(seconds));
  print_spread(models);
  return given.file.empty() ? status() : compare(given, models.front());
}

int main(int argc, char** argv) {
  options given;
  CLI::App app("What calibration takes and is worth", "cutpoint_costs");
  app.add_option("--file", given.file, "compare predictions with what the engine does with this file");
  app.add_option("--calibrations", given.calibrations)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--rounds", given.rounds)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--name", given.names, "names of the catalog")->capture_default_str();
  app.add_option("--hash", given.fingerprints, "fingerprints")->capture_default_str();
  app.add_option("--threads", given.threads)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const status outcome = run(given);
  if (outcome.ok()) return 0;
  fmt::print(stderr, "cutpoint_costs: {}\n", outcome.message());
  return 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
