// cutpoint_peers: measures chunkers and hashers of other projects beside Cutpoint's, on the same bytes, in turns. The script
// scripts/bench-peers builds it and the peers, and runs it on one core.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/source.h>
#include <cutpoint/speed.h>
#include <cutpoint/text.h>
#include <cutpoint/topology.h>
#include <fmt/format.h>

#include "bench/peers/peers.h"
#include "build_info.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t least_bytes = 64 * KiB;
/// How long a contender repeats its work in one turn if the data are few.
constexpr measuring_effort turn = {.least_seconds = 0.02, .most_seconds = 3600};

struct options {
  std::vector<std::string> sizes = {"512K", "1G"};
  std::uint64_t rounds = 5;
  std::string file;
  std::string crates;
  std::string only;
  bool is_json = false;
};

/// Returns the groups that are wanted and that this build of Cutpoint can do. Names those that it cannot do.
std::vector<peer_group> usable(std::vector<peer_group> groups, const std::string& only) {
  std::erase_if(groups, [&](const peer_group& group) {
    const auto is_named = [&](const std::string& name) { return name.find(only) != std::string::npos; };
    if (!is_named(group.work) &&
        std::none_of(group.peers.begin(), group.peers.end(), [&](const peer& each) { return is_named(each.name); })) {
      return true;
    }
    const peer& first = group.peers.front();
    if (first.cut == nullptr || find_entry(first.work)) return false;
    fmt::print(stderr, "cutpoint_peers: skipping {}: this build of Cutpoint has no {}\n", first.name, first.work);
    return true;
  });
  return groups;
}

/// Reads a file as often as needed, or makes random bytes if `file` is empty.
result<aligned_bytes> make_input(const std::string& file, std::uint64_t size) {
  if (file.empty()) return aligned_bytes::random(size);
  std::error_code failed;
  const std::uint64_t length = std::filesystem::file_size(file, failed);
  if (failed) return status{status_code::io_error, fmt::format("{}: {}", file, failed.message())};
  if (length == 0) return status{status_code::invalid_argument, fmt::format("{}: is empty", file)};
  return aligned_bytes::read_files(std::vector<std::string>((size + length - 1) / length, file), size, {});
}

/// Compares the contenders for a piece of work and adds the result to `report`.
status compare(comparison all, result<std::vector<contender>> contenders, peers_report& report) {
  if (!contenders) return contenders.error();
  all.contenders = *std::move(contenders);
  measure(all, report.rounds, [&](const std::function<void()>& run) {
    const auto whole_pass = [&](std::uint64_t) {
      run();
      return all.data_bytes;
    };
    return rate_of(whole_pass, all.data_bytes, turn);
  });
  report.comparisons.push_back(std::move(all));
  return {};
}

/// Compares all groups on one input.
status compare_all(const std::vector<peer_group>& groups, const std::string& input, byte_span data,
                   peers_report& report) {
  const std::vector<message_set> sets = message_sets(data);
  for (const peer_group& group : groups) {
    comparison all{.input = input, .data_bytes = data.size(), .work = group.work, .contenders = {}};
    if (group.peers.front().cut != nullptr) {
      CUTPOINT_RETURN_IF_FAILED(compare(all, cutting_contenders(group.peers, data), report));
      continue;
    }
    for (const message_set& set : sets) {
      all.work = fmt::format("{} of {}", group.work, set.name);
      CUTPOINT_RETURN_IF_FAILED(compare(all, hashing_contenders(group.peers, data, set.messages), report));
    }
  }
  return {};
}

status run(const options& settings, peers_report& report) {
  std::vector<peer> peers;
  if (!settings.crates.empty()) {
    auto crates = load_peers(settings.crates);
    if (!crates) return crates.error();
    peers = *std::move(crates);
  }
  for (const peer& each : library_peers()) peers.push_back(each);
  const std::vector<peer_group> groups = usable(group_by_work(peers), settings.only);

  std::vector<std::string> files = {""};
  if (!settings.file.empty()) files.push_back(settings.file);
  for (const std::string& file : files) {
    const std::string input = file.empty() ? "random bytes" : std::filesystem::path(file).filename().string();
    for (const std::string& text : settings.sizes) {
      const auto size = parse_size(text);
      if (!size) return size.error();
      if (*size < least_bytes) {
        return {status_code::invalid_argument, fmt::format("--bytes must be at least {}", format_size(least_bytes))};
      }
      const auto data = make_input(file, *size);
      if (!data) return data.error();
      CUTPOINT_RETURN_IF_FAILED(compare_all(groups, input, data->view(), report));
    }
  }
  return {};
}

int main(int argc, char** argv) {
  options settings;
  CLI::App app("Measures chunkers and hashers of other projects beside Cutpoint's", "cutpoint_peers");
  app.add_option("--bytes", settings.sizes, "Sizes of the data, with commas between them")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--rounds", settings.rounds, "Rounds, of which medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--file", settings.file, "Measure with the bytes of this file too, repeated as often as needed");
  app.add_option("--crates", settings.crates, "The library that cargo makes of bench/peers/rust");
  app.add_option("--only", settings.only, "Only works that are named so, or have a peer that is");
  app.add_flag("--json", settings.is_json, "Print JSON, not a table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? 0 : 2;
  }

  const topology machine = discover_topology();
  peers_report report{.machine = machine.problem.empty() ? machine.processor_model : "an unknown processor",
                      .build = fmt::format("commit {}, {} {}", build_commit, build_compiler, build_flags),
                      .rounds = settings.rounds,
                      .comparisons = {}};
  if (const status ran = run(settings, report); !ran.ok()) {
    fmt::print(stderr, "cutpoint_peers: {}\n", ran.message());
    return ran.code() == status_code::invalid_argument ? 2 : 1;
  }
  fmt::print("{}", settings.is_json ? report.json() : report.table());
  return report.is_right() ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
