// cutpoint_paper_runs: experiments of the papers that the command has no use for. Prints JSON.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/source.h>
#include <cutpoint/speed.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/papers/phases.h"
#include "bench/papers/shifts.h"

namespace cutpoint::bench {

namespace {

using json = nlohmann::ordered_json;

struct options {
  std::vector<std::string> files;
  std::uint64_t most_bytes = 256 * MiB;
  std::uint64_t average = 8 * KiB;
  std::uint64_t rounds = 0;
  bool measures_phases = false;
  std::vector<std::string> cuts;
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
};

/// Reads each file from its beginning, until `most_bytes` of all have been read.
result<std::vector<aligned_bytes>> read_streams(const options& settings) {
  std::vector<aligned_bytes> streams;
  std::uint64_t rest = settings.most_bytes;
  for (const std::string& file : settings.files) {
    if (rest == 0) break;
    const std::uint64_t size = std::min<std::uint64_t>(rest, std::filesystem::file_size(file));
    auto bytes = aligned_bytes::read_files({file}, size, cancellation());
    if (!bytes) return bytes.error();
    rest -= bytes->view().size();
    streams.push_back(std::move(*bytes));
  }
  return streams;
}

json json_of(const chunk_sums& sums) {
  return {{"chunks", sums.chunks}, {"unique_bytes", sums.unique_bytes}, {"seconds", sums.seconds}};
}

json compare_definitions(const options& settings, const std::vector<byte_span>& streams) {
  json list = json::array();
  for (const printed_definition& each : printed_definitions(settings.average)) {
    const definition_comparison compared = compare(each, streams, settings.rounds);
    list.push_back({{"name", each.name},
                    {"meaning", each.meaning},
                    {"cuts", each.ours.canonical()},
                    {"bytes", compared.bytes},
                    {"printed", json_of(compared.printed)},
                    {"ours", json_of(compared.ours)},
                    {"shared_cuts", compared.shared_cuts}});
  }
  return list;
}

json time_phases(const options& settings, byte_span stream) {
  json list = json::array();
  for (const phase_seconds& each : measure_phases(stream, std::max<std::uint64_t>(1, settings.rounds))) {
    list.push_back({{"name", each.name},
                    {"rolling hash", each.rolling_hash},
                    {"boundary test", each.boundary_test},
                    {"extreme search", each.extreme_search},
                    {"range scan", each.range_scan},
                    {"fingerprint", each.fingerprint},
                    {"readings", each.readings},
                    {"one loop", each.one_loop}});
  }
  return list;
}

result<json> shift_bytes(const options& settings, const std::vector<byte_span>& streams) {
  json list = json::array();
  for (const std::string& text : settings.cuts) {
    const auto reference = parse_canonical(text);
    if (!reference) return reference.error();
    const auto cuts = chunker_on(*reference, backend::automatic);
    if (!cuts) return cuts.error();
    for (std::size_t place = 0; place < shift_places.size(); ++place) {
      for (const bool is_insertion : {true, false}) {
        const shift_tally tally = tally_shifts(*cuts, streams.front(), static_cast<shift_place>(place), is_insertion,
                                               settings.count, settings.seed);
        if (tally.shifts == 0) continue;
        list.push_back({{"cuts", cuts->canonical()},
                        {"place", shift_places[place]},
                        {"change", is_insertion ? "insertion" : "deletion"},
                        {"shifts", tally.shifts},
                        {"changed", tally.changed},
                        {"after", tally.after},
                        {"most_changed", tally.most_changed},
                        {"with_none_after", tally.with_none_after},
                        {"with_one_after", tally.with_one_after},
                        {"without_meeting", tally.without_meeting}});
      }
    }
  }
  return list;
}

result<json> run(const options& settings) {
  const auto buffers = read_streams(settings);
  if (!buffers) return buffers.error();
  std::vector<byte_span> streams;
  for (const aligned_bytes& buffer : *buffers) streams.push_back(buffer.view());
  if (settings.measures_phases) return time_phases(settings, streams.front());
  if (!settings.cuts.empty()) return shift_bytes(settings, streams);
  return compare_definitions(settings, streams);
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  using namespace cutpoint;
  bench::options settings;
  CLI::App app("Runs experiments of the papers on files in memory, and prints JSON.");
  app.require_subcommand(1);
  const auto add_files = [&](CLI::App& command) {
    command.add_option("FILE", settings.files, "Files, each a stream")->required()->check(CLI::ExistingFile);
    command.add_option("--bytes", settings.most_bytes, "Read at most so many bytes of all files")
        ->check(CLI::Range(std::uint64_t{1}, 16 * GiB));
  };
  CLI::App* const definitions =
      app.add_subcommand("definitions", "Cuts by definitions as the papers print them, beside those of the catalog");
  add_files(*definitions);
  definitions->add_option("--average", settings.average, "The average chunk size")
      ->check(CLI::Range(1 * KiB, 64 * KiB))
      ->check(CLI::Validator(
          [](const std::string& text) {
            const unsigned long long value = std::stoull(text);
            return (value & (value - 1)) == 0 ? std::string() : "must be a power of two";
          },
          "POWER OF TWO"));
  definitions->add_option("--rounds", settings.rounds, "Measure the time of so many rounds; 0: none")
      ->check(CLI::Range(0, 100));
  CLI::App* const shifts = app.add_subcommand(
      "shifts", "Inserts bytes into the first file and deletes bytes from it, and counts the chunks that change");
  add_files(*shifts);
  shifts->add_option("--cuts", settings.cuts, "Canonical strings of chunkers")->required();
  shifts->add_option("--count", settings.count, "Shifts of each kind at each place")->check(CLI::Range(1, 1000000));
  shifts->add_option("--seed", settings.seed, "The seed of the random offsets");
  CLI::App* const phases = app.add_subcommand("phases", "Measures the time of the first file by phase");
  add_files(*phases);
  phases->add_option("--rounds", settings.rounds, "The shortest time of so many rounds counts")
      ->check(CLI::Range(1, 100));
  phases->callback([&settings] { settings.measures_phases = true; });
  CLI11_PARSE(app, argc, argv);
  const auto done = bench::run(settings);
  if (!done) {
    fmt::print(stderr, "cutpoint_paper_runs: {}\n", done.error().message());
    return 1;
  }
  fmt::print("{}\n", done->dump(1));
  return 0;
}
