// cutpoint_scaling: what the engine makes of more threads on a file, beside the sequential cutter on the same file.
//
// Every round measures, one after the other, the sequential way and each number of threads, so that the ratios are of
// the same minute. The chunks and fingerprints of all ways must be equal, or no speed is shown and the exit code is 1.
#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/engine.h>
#include <cutpoint/text.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/common/configurations.h"

namespace cutpoint::bench {

namespace {

struct options {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::string> settings;
  std::string fingerprint = "sha1";
  std::string segment;
  std::string map = "automatic";
  std::string backend = "auto";
  std::vector<std::uint64_t> threads = {1, 2};
  int rounds = 5;
};

/// The sum of all that came out, whatever the order of threads: equal sums, equal chunks.
struct answer {
  std::uint64_t chunk_count = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t offset, std::uint64_t length, const digest& fingerprint) {
    ++chunk_count;
    std::uint64_t mixed = offset * 0x9e3779b97f4a7c15 ^ length;
    for (std::size_t i = 0; i < fingerprint.size; ++i) mixed = mixed * 0x100000001b3 ^ fingerprint.bytes[i];
    sum += mixed;
  }
  friend bool operator==(const answer&, const answer&) = default;
};

class summing_receiver final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override {
    for (std::uint64_t i = 0; i < c.count; ++i) got.add(c.offset + i * c.length, c.length, c.fingerprint);
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }

  answer got;
};

struct measured {
  double seconds = 0;
  answer got;
  feed_statistics statistics;
};

double seconds_of(const std::function<status()>& work, status& outcome) {
  const auto begin = std::chrono::steady_clock::now();
  outcome = work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

result<measured> run_sequentially(const std::string& file, const chunker& cuts, const fingerprint_recipe& recipe) {
  auto source = file_source::open(file);
  if (!source) return source.error();
  auto fingerprint_of = fingerprinter::make(recipe);
  if (!fingerprint_of) return fingerprint_of.error();
  measured m;
  status outcome;
  const auto sink = [&](const chunk& where, byte_span bytes) -> status {
    const auto fingerprint = (*fingerprint_of)(bytes);
    if (!fingerprint) return fingerprint.error();
    m.got.add(where.offset, where.length, *fingerprint);
    return {};
  };
  m.seconds = seconds_of([&] { return cut_stream(*source, cuts, {}, sink); }, outcome);
  return outcome.ok() ? result<measured>(m) : outcome;
}

result<measured> run_engine(const std::string& file, const feed_options& job, std::uint64_t threads) {
  auto lanes = engine::make({.threads = threads});
  if (!lanes) return lanes.error();
  auto source = file_source::open(file);
  if (!source) return source.error();
  measured m;
  status outcome;
  summing_receiver out;
  m.seconds = seconds_of(
      [&]() -> status {
        auto feed = lanes->open(job, out);
        if (!feed) return feed.error();
        if (status fed = feed_source(*feed, 0, *source); !fed.ok()) return fed;
        const status finished = feed->finish();
        m.statistics = feed->statistics();
        return finished;
      },
      outcome);
  m.got = out.got;
  return outcome.ok() ? result<measured>(m) : outcome;
}

/// One row of the table: each way's time in every round.
status measure_row(const options& given, std::string_view name, const feed_options& job) {
  std::vector<double> sequential;
  std::vector<std::vector<double>> factors(given.threads.size());
  feed_statistics last;
  for (int round = 0; round < given.rounds; ++round) {
    const auto baseline = run_sequentially(given.file, job.cuts, job.fingerprint);
    if (!baseline) return baseline.error();
    sequential.push_back(baseline->seconds);
    for (std::size_t i = 0; i < given.threads.size(); ++i) {
      const auto run = run_engine(given.file, job, given.threads[i]);
      if (!run) return run.error();
      if (run->got != baseline->got) {
        return {status_code::backend_failure,
                fmt::format("{} on {} threads: other chunks than sequentially", name, given.threads[i])};
      }
      factors[i].push_back(baseline->seconds / run->seconds);
      last = run->statistics;
    }
  }
  const auto fed = static_cast<double>(std::max<std::uint64_t>(1, last.fed_bytes));
  std::string row = fmt::format("| {} | {:.3f} |", name, fed / static_cast<double>(GiB) / median(sequential));
  for (const auto& of_threads : factors) row += fmt::format(" {:.2f} |", median(of_threads));
  std::vector<double> gains;
  std::transform(factors.back().begin(), factors.back().end(), factors.front().begin(), std::back_inserter(gains),
                 std::divides<>());
  row += fmt::format(" {:.2f} |", median(gains));
  row += fmt::format(" {:.2f} | {:.2f} | {:.0f} | {} of {} |", 100 * static_cast<double>(last.twice_cut_bytes) / fed,
                     100 * static_cast<double>(last.twice_hashed_bytes) / fed,
                     100 * static_cast<double>(last.run_bytes) / fed, last.missed_count, last.segment_count);
  fmt::print("{}\n", row);
  std::fflush(stdout);
  return {};
}

result<std::vector<configuration>> chosen(const options& given) {
  if (given.names.empty()) return configurations();
  std::vector<configuration> found;
  for (const std::string& name : given.names) {
    std::vector<parameter_setting> settings;
    for (const std::string& s : given.settings) {
      const std::size_t equals = std::min(s.find('='), s.size() - 1);
      settings.push_back({s.substr(0, equals), s.substr(equals + 1)});
    }
    const auto entry = find_entry(name);
    if (!entry) return entry.error();
    auto made = make_chunker(name, settings);
    if (!made) return made.error();
    found.push_back({(*entry)->name, made->chunker});
  }
  return found;
}

status run(const options& given) {
  const auto kind = parse_fingerprint(given.fingerprint);
  if (!kind) return kind.error();
  const auto where = parse_backend(given.backend);
  if (!where) return where.error();
  const auto configurations = chosen(given);
  if (!configurations) return configurations.error();
  std::uint64_t segment_bytes = 0;
  if (!given.segment.empty()) {
    const auto parsed = parse_size(given.segment);
    if (!parsed) return parsed.error();
    segment_bytes = *parsed;
  }
  const map_kind map = given.map == "candidates" ? map_kind::candidates
                       : given.map == "cuts"     ? map_kind::cuts
                                                 : map_kind::automatic;
  fmt::print(
      "| name | sequential GiB/s | {} threads, times that | last over first | cut twice % | hashed twice % | in runs % "
      "| missed |\n",
      fmt::join(given.threads, " threads, times that | "));
  std::string rule = "|---|---|";
  for (std::size_t i = 0; i < given.threads.size() + 5; ++i) rule += "---|";
  fmt::print("{}\n", rule);
  for (const configuration& c : *configurations) {
    const feed_options job{
        .cuts = c.chunker, .fingerprint = *kind, .where = *where, .map = map, .segment_bytes = segment_bytes};
    if (status row = measure_row(given, c.name, job); !row.ok()) return row;
  }
  return {};
}

int main(int argc, char** argv) {
  options given;
  CLI::App app("What the engine makes of more threads on a file, beside the sequential cutter: a table in Markdown",
               "cutpoint_scaling");
  app.add_option("FILE", given.file, "best in the page cache, and as large as that allows")->required();
  app.add_option("--name", given.names, "names of the catalog; default: all, at 2K:8K:64K where they take it");
  app.add_option("--set", given.settings, "KEY=VALUE for the names given");
  app.add_option("--hash", given.fingerprint, "fingerprint")->capture_default_str();
  app.add_option("--threads", given.threads, "numbers of threads")->capture_default_str();
  app.add_option("--segment", given.segment, "bytes of a segment");
  app.add_option("--map", given.map, "automatic, candidates or cuts")
      ->check(CLI::IsMember({"automatic", "candidates", "cuts"}));
  app.add_option("--backend", given.backend, "of the engine; the sequential cutter is the reference")
      ->capture_default_str();
  app.add_option("--rounds", given.rounds, "rounds, of which the medians are shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const status outcome = run(given);
  if (!outcome.ok()) fmt::print(stderr, "cutpoint_scaling: {}\n", outcome.message());
  return outcome.ok() ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
