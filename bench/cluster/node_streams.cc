// cutpoint_node_streams: the similarity index of a node, and deduplication by it, with several streams at once (AppDedupe's figure 6).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cluster/similarity/similarity_index.h"
#include "cluster/simulator/node_store.h"
#include "host/core/splitmix.h"

namespace cutpoint::bench {

namespace {

using cluster::class_number;
using cluster::routed_chunk;
using cluster::similarity_index;
using nlohmann::ordered_json;

constexpr std::size_t handprint_size = 8;
constexpr std::uint64_t chunks_of_super_chunk = 256;
constexpr std::uint32_t chunk_bytes = 4096;
constexpr std::size_t cached_containers = 4096;  ///< of a stream

struct options {
  std::vector<std::size_t> streams = {1, 2, 4, 8, 16, 32};
  std::vector<std::size_t> locks = {1, 4, 16, 64, 256, 1024};
  std::size_t rounds = 5;
  std::uint64_t handprints = 131'072;
  std::size_t classes = 8;
  std::uint64_t super_chunks = 1024;
  std::uint64_t versions = 4;
  double changed = 0.44;
};

struct super_chunk {
  class_number application;
  std::vector<routed_chunk> chunks;
  std::vector<std::uint64_t> handprint;
};

/// Versions of files, which are synthetic: of the chunks of a version, runs of 20 are new with the probability `changed`, as
/// versions of disk images change.
std::vector<super_chunk> make_super_chunks(const options& settings) {
  constexpr std::uint64_t run_chunks = 20;
  const std::uint64_t version_chunks = settings.super_chunks * chunks_of_super_chunk;
  std::vector<std::uint64_t> fingerprints(version_chunks);
  splitmix64 random(1);
  std::vector<super_chunk> all;
  for (std::uint64_t version = 0; version < settings.versions; ++version) {
    for (std::uint64_t begin = 0; begin < version_chunks; begin += run_chunks) {
      if (version != 0 && static_cast<double>(random.next() >> 11) * 0x1p-53 >= settings.changed) continue;
      for (std::uint64_t i = begin; i < std::min(begin + run_chunks, version_chunks); ++i) {
        fingerprints[i] = random.next();
      }
    }
    for (std::uint64_t i = 0; i < settings.super_chunks; ++i) {
      super_chunk& each = all.emplace_back();
      each.application = static_cast<class_number>(i % settings.classes);
      for (std::uint64_t chunk = 0; chunk < chunks_of_super_chunk; ++chunk) {
        each.chunks.push_back({fingerprints[i * chunks_of_super_chunk + chunk], chunk_bytes});
      }
      cluster::append_handprint(each.chunks, handprint_size, each.handprint);
    }
  }
  return all;
}

/// What some work took: by the clock, and of all its threads together by their processor time.
struct usage {
  double seconds = 0;
  double processor_seconds = 0;
};

double thread_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Calls `work(stream)` on a thread for each stream, all at once. Returns the seconds from the first begin to the last end.
template <class Work>
usage usage_of(std::size_t stream_count, const Work& work) {
  using clock = std::chrono::steady_clock;
  std::latch ready(static_cast<std::ptrdiff_t>(stream_count));
  std::vector<clock::time_point> begins(stream_count);
  std::vector<clock::time_point> ends(stream_count);
  std::vector<double> processor_seconds(stream_count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t stream = 0; stream < stream_count; ++stream) {
      threads.emplace_back([&, stream] {
        ready.arrive_and_wait();
        const double begin = thread_seconds();
        begins[stream] = clock::now();
        work(stream);
        ends[stream] = clock::now();
        processor_seconds[stream] = thread_seconds() - begin;
      });
    }
  }
  const auto begin = *std::min_element(begins.begin(), begins.end());
  const auto end = *std::max_element(ends.begin(), ends.end());
  return {std::chrono::duration<double>(end - begin).count(),
          std::accumulate(processor_seconds.begin(), processor_seconds.end(), 0.0)};
}

/// The share of `count` items that a stream has: from the first number up to the second one.
std::pair<std::uint64_t, std::uint64_t> share_of(std::size_t stream, std::size_t stream_count, std::uint64_t count) {
  return {stream * count / stream_count, (stream + 1) * count / stream_count};
}

/// Look-ups of all handprints that one table has, by each number of streams. A stream looks up its share of them.
result<std::vector<ordered_json>> measure_look_ups(const options& settings, std::size_t lock_count) {
  similarity_index index({.class_count = 1, .lock_count = lock_count});
  std::vector<std::uint64_t> fingerprints(settings.handprints * handprint_size);
  splitmix64 random(2);
  for (std::uint64_t& each : fingerprints) each = random.next();
  index.insert(0, fingerprints, 0);
  std::vector<ordered_json> rows;
  for (const std::size_t stream_count : settings.streams) {
    std::vector<std::uint64_t> matches(stream_count);
    const usage used = usage_of(stream_count, [&](std::size_t stream) {
      const auto [begin, end] = share_of(stream, stream_count, settings.handprints);
      std::uint64_t count = 0;
      for (std::uint64_t i = begin; i < end; ++i) {
        count += index.count_matches(0, std::span(fingerprints).subspan(i * handprint_size, handprint_size));
      }
      matches[stream] = count;
    });
    const std::uint64_t known_count = std::accumulate(matches.begin(), matches.end(), std::uint64_t{0});
    if (known_count != fingerprints.size()) {
      return status(status_code::backend_failure,
                    fmt::format("{} of {} fingerprints were found", known_count, fingerprints.size()));
    }
    rows.push_back({{"work", "look-ups"},
                    {"streams", stream_count},
                    {"tables", 1},
                    {"locks", lock_count},
                    {"count", fingerprints.size()},
                    {"seconds", used.seconds},
                    {"processor_seconds", used.processor_seconds}});
  }
  return rows;
}

/// Deduplication of all super-chunks by a node with so many tables, one for all classes or one for each, and so many locks of
/// each table: first with nothing stored (cold), then again with what is in the index and in the streams' caches (warm). A
/// stream has a share of each version.
std::vector<ordered_json> measure_deduplication(const options& settings, std::span<const super_chunk> all,
                                                std::size_t stream_count, std::size_t table_count,
                                                std::size_t lock_count) {
  const auto shared = std::make_shared<cluster::shared_containers>(
      similarity_index::options{.class_count = table_count, .lock_count = lock_count});
  std::vector<std::unique_ptr<cluster::node_store>> streams;
  for (std::size_t i = 0; i < stream_count; ++i) {
    streams.push_back(cluster::make_container_store(
        {.container_bytes = 4 * 1024 * 1024, .cached_containers = cached_containers}, shared));
  }
  std::vector<ordered_json> rows;
  for (const char* const work : {"cold", "warm"}) {
    std::vector<std::uint64_t> stored(stream_count);
    const usage used = usage_of(stream_count, [&](std::size_t stream) {
      const auto [begin, end] = share_of(stream, stream_count, settings.super_chunks);
      std::uint64_t stored_bytes = 0;
      for (std::uint64_t version = 0; version < settings.versions; ++version) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const super_chunk& each = all[version * settings.super_chunks + i];
          const class_number table = table_count == 1 ? 0 : each.application;
          stored_bytes += streams[stream]->store(
              {.application = table, .client = 0, .chunks = each.chunks, .handprint = each.handprint});
        }
      }
      stored[stream] = stored_bytes;
    });
    rows.push_back({{"work", work},
                    {"streams", stream_count},
                    {"tables", table_count},
                    {"locks", lock_count},
                    {"bytes", all.size() * chunks_of_super_chunk * chunk_bytes},
                    {"stored_bytes", std::accumulate(stored.begin(), stored.end(), std::uint64_t{0})},
                    {"seconds", used.seconds},
                    {"processor_seconds", used.processor_seconds}});
  }
  return rows;
}

status measure(const options& settings) {
  const std::vector<super_chunk> all = make_super_chunks(settings);
  const std::pair<std::size_t, std::size_t> indexes[] = {{1, 1}, {settings.classes, 1}, {settings.classes, 64}};
  ordered_json rows = ordered_json::array();
  const auto add = [&](std::vector<ordered_json> more) {
    for (ordered_json& row : more) rows.push_back(std::move(row));
  };
  for (std::size_t round = 0; round < settings.rounds; ++round) {
    for (const std::size_t lock_count : settings.locks) {
      auto more = measure_look_ups(settings, lock_count);
      if (!more) return more.error();
      add(*std::move(more));
    }
    for (const std::size_t stream_count : settings.streams) {
      for (const auto& [table_count, lock_count] : indexes) {
        add(measure_deduplication(settings, all, stream_count, table_count, lock_count));
      }
    }
  }
  fmt::print("{}\n", ordered_json{{"classes", settings.classes}, {"rows", std::move(rows)}}.dump());
  return {};
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  cutpoint::bench::options settings;
  CLI::App app(
      "Measures look-ups in a similarity index, and deduplication by it, with several streams, and prints JSON.");
  app.add_option("--streams", settings.streams, "Numbers of streams, a thread each")->check(CLI::Range(1, 1024));
  app.add_option("--locks", settings.locks, "Numbers of locks of the table that look-ups are measured in")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--rounds", settings.rounds, "Rounds, each of which measures everything once")
      ->check(CLI::Range(1, 1000));
  app.add_option("--handprints", settings.handprints, "Handprints of that table, of 8 fingerprints each")
      ->check(CLI::Range(1, 100'000'000));
  app.add_option("--classes", settings.classes, "Application classes of the data to deduplicate")
      ->check(CLI::Range(1, 1000));
  app.add_option("--super-chunks", settings.super_chunks, "Super-chunks of a version, of 1 MiB each")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--versions", settings.versions, "Versions of the data")->check(CLI::Range(1, 1000));
  app.add_option("--changed", settings.changed, "Share of each later version that is new")->check(CLI::Range(0.0, 1.0));
  CLI11_PARSE(app, argc, argv);
  const cutpoint::status measured = cutpoint::bench::measure(settings);
  if (measured.ok()) return 0;
  fmt::print(stderr, "cutpoint_node_streams: {}\n", measured.message());
  return 1;
}
