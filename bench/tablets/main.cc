// cutpoint_tablets: streams of fingerprints through PRUNE's table and through a store's own index, in batches.
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/common/usual_data.h"
#include "bench/tablets/shard_table.h"
#include "bench/tablets/tablet_index.h"
#include "host/core/splitmix.h"

namespace cutpoint::bench {

namespace {

using nlohmann::ordered_json;

struct options {
  std::string folder;
  std::string index = "lru";
  std::uint64_t fingerprints = 1'000'000;
  std::uint64_t first_round = 0;
  std::uint64_t rounds = 2;
  std::uint64_t first = 0;
  double seconds = 1e9;
  double changed = 0;
  bool is_scattered = false;
  std::size_t batch = 1024;
  std::uint64_t tablet_kib = 1536;
  double filter_bits = 8;
  std::uint64_t filter_fingerprints = 0;
  std::size_t most_open = 0;
  std::uint64_t table_cache_kib = store::table_cache::usual_bytes / 1024;
};

constexpr std::uint64_t seed = 1;  ///< of what changes
/// Neighbours in a stream that change together.
constexpr std::uint64_t run_length = 512;

/// The fingerprints of one backup after another. Runs of the first one are replaced by new ones in later rounds.
class backup_streams {
 public:
  explicit backup_streams(const options& settings) : settings_(settings) {}

  [[nodiscard]] digest at(std::uint64_t round, std::uint64_t i) const {
    if (settings_.is_scattered && round != 0) {
      i = splitmix64::mixed(seed ^ (round * settings_.fingerprints + i)) % settings_.fingerprints;
    }
    const std::uint64_t run = i / run_length;
    std::uint64_t version = 0;  // the newest round up to this one that has replaced the run
    for (std::uint64_t each = 1; each <= round; ++each) {
      const double draw = static_cast<double>(splitmix64::mixed(seed + (each << 40) + run) >> 11) * 0x1p-53;
      if (draw < settings_.changed) version = each;
    }
    return synthetic_digest(version * settings_.fingerprints + i, 20);
  }

 private:
  const options& settings_;
};

struct usage {
  double seconds = 0;
  double processor_seconds = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t read_bytes = 0;
};

usage used_so_far() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(now).count(), seconds(used.ru_utime) + seconds(used.ru_stime),
          static_cast<std::uint64_t>(used.ru_majflt), static_cast<std::uint64_t>(used.ru_inblock) * 512};
}

/// One of the indexes, and what only it can tell.
struct measured_index {
  std::unique_ptr<tablet_index> tablets;
  std::unique_ptr<shard_table> shards;

  [[nodiscard]] fingerprint_index& table() const {
    return tablets ? static_cast<fingerprint_index&>(*tablets) : *shards;
  }
};

result<measured_index> open_index(const options& settings) {
  measured_index index;
  if (settings.index == "shards") {
    auto shards = shard_table::make({.folder = settings.folder,
                                     .table_cache_bytes = settings.table_cache_kib * 1024,
                                     .waiting_entries = std::size_t{1} << 15});
    if (!shards) return shards.error();
    index.shards = std::move(*shards);
    return index;
  }
  // LMDB gets lists of megabytes for each file and uses little of them. Mapped, the rest takes no memory.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 17);
  const std::uint64_t expected =
      settings.filter_fingerprints != 0 ? settings.filter_fingerprints : settings.fingerprints;
  tablet_options tablets{
      .folder = settings.folder,
      .tablet_bytes = settings.tablet_kib * 1024,
      .filter_bits = static_cast<std::uint64_t>(settings.filter_bits * static_cast<double>(expected)),
      .most_open = settings.most_open};
  tablets.filter_functions = bloom_filter::best_functions(tablets.filter_bits, expected);
  for (std::size_t i = 0; i < tablet_orders; ++i) {
    if (settings.index == name_of(static_cast<tablet_order>(i))) tablets.order = static_cast<tablet_order>(i);
  }
  index.tablets = std::make_unique<tablet_index>(tablets);
  const status loaded = index.tablets->load();
  return loaded.ok() ? result(std::move(index)) : loaded;
}

ordered_json json_of(const tablet_counts& now, const tablet_counts& before) {
  return {{"filtered", now.filtered - before.filtered},
          {"false_positives", now.false_positives - before.false_positives},
          {"examined", now.examined - before.examined},
          {"pages", now.pages - before.pages},
          {"openings", now.openings - before.openings}};
}

/// Drops files from the page cache, so that the next process with the folder reads them itself.
void drop_from_memory(const std::string& folder) {
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    if (!each.is_regular_file()) continue;
    const int file = ::open(each.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;  // it is only not dropped
    // What is not on the disk is not dropped.
    ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

status measure(const options& settings) {
  auto index = open_index(settings);
  if (!index) return index.error();
  const backup_streams streams(settings);
  ordered_json rounds = ordered_json::array();
  std::vector<digest> digests(settings.batch);
  std::vector<index_answer> answers(settings.batch);
  for (std::uint64_t round = settings.first_round; round < settings.first_round + settings.rounds; ++round) {
    const tablet_counts before = index->tablets ? index->tablets->counts() : tablet_counts();
    usage sum;
    std::uint64_t present = 0;
    std::uint64_t next = settings.first;
    while (next < settings.fingerprints && sum.seconds < settings.seconds) {
      const std::size_t count = std::min<std::uint64_t>(settings.batch, settings.fingerprints - next);
      for (std::size_t i = 0; i < count; ++i) digests[i] = streams.at(round, next + i);
      const usage begin = used_so_far();
      CUTPOINT_RETURN_IF_FAILED(
          index->table().insert(std::span(digests).first(count), std::span(answers).first(count)));
      const usage end = used_so_far();
      sum.seconds += end.seconds - begin.seconds;
      sum.processor_seconds += end.processor_seconds - begin.processor_seconds;
      sum.major_faults += end.major_faults - begin.major_faults;
      sum.read_bytes += end.read_bytes - begin.read_bytes;
      present += static_cast<std::uint64_t>(
          std::count(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(count), index_answer::present));
      next += count;
    }
    const std::uint64_t memory_bytes = index->table().memory_bytes();
    const usage begin = used_so_far();
    if (index->shards) {
      CUTPOINT_RETURN_IF_FAILED(index->shards->begin_next_session());
    }
    sum.seconds += used_so_far().seconds - begin.seconds;
    const std::uint64_t lookups = next - settings.first;
    ordered_json row = {{"seconds", sum.seconds},
                        {"processor_seconds", sum.processor_seconds},
                        {"lookups", lookups},
                        {"present", present},
                        {"size", index->table().size()},
                        {"major_faults", sum.major_faults},
                        {"read_bytes", sum.read_bytes},
                        {"memory_bytes", memory_bytes}};
    if (index->tablets) {
      row.update(json_of(index->tablets->counts(), before));
      row.update(ordered_json{{"tablets", index->tablets->tablet_count()},
                              {"used_bytes", index->tablets->used_bytes()},
                              {"file_bytes", index->tablets->file_bytes()}});
    } else {
      const auto file_bytes = index->shards->disk_bytes();
      if (!file_bytes) return file_bytes.error();
      row["file_bytes"] = *file_bytes;
    }
    rounds.push_back(std::move(row));
  }
  if (index->tablets) {  // what is mapped is not dropped
    CUTPOINT_RETURN_IF_FAILED(index->tablets->close());
  }
  drop_from_memory(settings.folder);
  fmt::print("{}\n", ordered_json{{"index", settings.index}, {"rounds", std::move(rounds)}}.dump());
  return {};
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  cutpoint::bench::options settings;
  CLI::App app("Measures lookups in PRUNE's fingerprint table and in a store's own index, and prints them as JSON.");
  app.add_option("FOLDER", settings.folder,
                 "An empty folder, or one with the table after the rounds before --first-round")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--index", settings.index, "How the table is managed; shards: the store's own index")
      ->check(CLI::IsMember({"single", "linear", "lru", "lru-list", "lru-creation", "shards"}));
  app.add_option("--fingerprints", settings.fingerprints, "Of each backup")->check(CLI::Range(1'000, 1'000'000'000));
  app.add_option("--first-round", settings.first_round, "Number of the first backup")->check(CLI::Range(0, 100));
  app.add_option("--rounds", settings.rounds, "Backups; 0: only drops the files from memory")
      ->check(CLI::Range(0, 100));
  app.add_option("--first", settings.first, "Fingerprints at the beginning of each backup that are left out");
  app.add_option("--seconds", settings.seconds, "Most seconds of a backup, of which the rest is left out")
      ->check(CLI::Range(0.1, 1e9));
  app.add_option("--changed", settings.changed, "Share of each later backup that is new")->check(CLI::Range(0.0, 1.0));
  app.add_flag("--scattered", settings.is_scattered, "Later backups ask in an order without locality");
  app.add_option("--batch", settings.batch, "Fingerprints of a call")->check(CLI::Range(1, 1'000'000));
  app.add_option("--tablet-kib", settings.tablet_kib, "KiB of a tablet's used pages")->check(CLI::Range(16, 1 << 20));
  app.add_option("--filter-bits", settings.filter_bits, "Bits of the filter for each fingerprint; 0: no filter")
      ->check(CLI::Range(0.0, 64.0));
  app.add_option("--filter-fingerprints", settings.filter_fingerprints,
                 "Fingerprints that the filter is made for; 0: as many as a backup has");
  app.add_option("--open", settings.most_open, "Tablets that may be open; 0: all")->check(CLI::Range(0, 1'000'000));
  app.add_option("--table-cache-kib", settings.table_cache_kib, "Memory for tables of containers, with shards");
  CLI11_PARSE(app, argc, argv);
  const cutpoint::status measured = cutpoint::bench::measure(settings);
  if (measured.ok()) return 0;
  fmt::print(stderr, "cutpoint_tablets: {}\n", measured.message());
  return 1;
}
