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
constexpr std::uint64_t usual_l2_half = 256 * KiB;
constexpr std::uint64_t most_buffers = 16;
/// How long a contender repeats its work in one turn if the data are few.
constexpr measuring_effort turn = {.least_seconds = 0.02, .most_seconds = 3600};

struct options {
  std::vector<std::string> sizes;  ///< none: half of L2, and `1G`
  std::uint64_t rounds = 9;
  std::string backend = "auto";
  std::string file;
  std::vector<std::string> libraries;
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

/// Returns the sizes of the data, with where they fit.
result<std::vector<comparison>> sizes_of(const options& settings, const topology& machine) {
  std::vector<std::string> texts = settings.sizes;
  if (texts.empty()) {
    std::uint64_t l2_half = usual_l2_half;
    for (const cache_info& each : machine.caches) {
      if (each.level == 2 && each.bytes >= 2 * least_bytes) l2_half = each.bytes / 2;
    }
    texts = {std::to_string(l2_half), "1G"};
  }
  std::vector<comparison> sizes;
  for (const std::string& text : texts) {
    CUTPOINT_TRY(const std::uint64_t size, parse_size(text));
    if (size < least_bytes) {
      return status{status_code::invalid_argument,
                    fmt::format("--bytes must be at least {}", format_size(least_bytes))};
    }
    const std::string place = place_of(size, machine.caches);
    sizes.push_back({.input = {},
                     .place = place,
                     .buffer_bytes = size,
                     .buffer_count = place == "memory" ? 1 : std::min(settings.rounds, most_buffers),
                     .work = {},
                     .contenders = {}});
  }
  return sizes;
}

/// Adds what to compare on the first buffers of `data`.
status add_comparisons(const std::vector<peer_group>& groups, const comparison& base, byte_span data, backend where,
                       std::vector<comparison>& all) {
  std::vector<byte_span> buffers;
  for (std::size_t i = 0; i < base.buffer_count; ++i) {
    buffers.push_back(data.subspan(i * base.buffer_bytes, base.buffer_bytes));
  }
  const std::vector<message_set> sets = message_sets(buffers);
  for (const peer_group& group : groups) {
    const auto add = [&](std::string work, result<std::vector<contender>> contenders) -> status {
      if (!contenders) return contenders.error();
      all.push_back(base);
      all.back().work = std::move(work);
      all.back().contenders = *std::move(contenders);
      return {};
    };
    if (group.peers.front().cut != nullptr) {
      CUTPOINT_RETURN_IF_FAILED(add(group.work, cutting_contenders(group.peers, buffers, where)));
      continue;
    }
    for (const message_set& set : sets) {
      CUTPOINT_RETURN_IF_FAILED(
          add(fmt::format("{} of {}", group.work, set.name), hashing_contenders(group.peers, buffers, set, where)));
    }
  }
  return {};
}

double rate(const std::function<void()>& run, std::uint64_t bytes) {
  const auto whole_pass = [&](std::uint64_t) {
    run();
    return bytes;
  };
  return rate_of(whole_pass, bytes, turn);
}

status run(const options& settings, const topology& machine, peers_report& report) {
  CUTPOINT_TRY(const backend where, parse_backend(settings.backend));
  CUTPOINT_TRY(std::vector<comparison> sizes, sizes_of(settings, machine));
  std::vector<peer> peers;
  for (const std::string& path : settings.libraries) {
    CUTPOINT_TRY(const std::vector<peer> loaded, load_peers(path, where));
    peers.insert(peers.end(), loaded.begin(), loaded.end());
  }
  for (const peer& each : library_peers()) peers.push_back(each);
  const std::vector<peer_group> groups = usable(group_by_work(peers), settings.only);

  std::uint64_t most_bytes = 0;
  for (const comparison& each : sizes) most_bytes = std::max(most_bytes, each.buffer_bytes * each.buffer_count);
  std::vector<std::string> files = {""};
  if (!settings.file.empty()) files.push_back(settings.file);
  for (const std::string& file : files) {
    CUTPOINT_TRY(const aligned_bytes data, make_input(file, most_bytes));
    std::vector<comparison> all;
    for (comparison& base : sizes) {
      base.input = file.empty() ? "random bytes" : std::filesystem::path(file).filename().string();
      CUTPOINT_RETURN_IF_FAILED(add_comparisons(groups, base, data.view(), where, all));
    }
    measure(all, settings.rounds, rate);
    for (comparison& each : all) {
      for (contender& measured : each.contenders) measured.run = {};  // it has what was made for this input
      report.comparisons.push_back(std::move(each));
    }
  }
  return {};
}

int main(int argc, char** argv) {
  options settings;
  CLI::App app("Measures chunkers and hashers of other projects beside Cutpoint's", "cutpoint_peers");
  app.add_option("--bytes", settings.sizes, "Sizes of the data, with commas between them; else half of L2, and 1G")
      ->delimiter(',');
  app.add_option("--rounds", settings.rounds, "Rounds, of which medians are shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--file", settings.file, "Measure with the bytes of this file too, repeated as often as needed");
  app.add_option("--backend", settings.backend, "Cutpoint's back end")->capture_default_str();
  app.add_option("--peers", settings.libraries, "A library of peers; repeatable");
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
  if (const status ran = run(settings, machine, report); !ran.ok()) {
    fmt::print(stderr, "cutpoint_peers: {}\n", ran.message());
    return ran.code() == status_code::invalid_argument || ran.code() == status_code::unknown_name ? 2 : 1;
  }
  fmt::print("{}", settings.is_json ? report.json() : report.table());
  return report.is_right() ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
