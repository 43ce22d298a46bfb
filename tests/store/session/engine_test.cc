// The engine feeds a session: lanes compress new chunks, and the streams come back.
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>
#include <gtest/gtest.h>

#include "store/session/deduplicator.h"
#include "tests/pipeline/support/simulated_machine.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {

/// A chunk receiver that stores all streams of a feed and passes their extents on.
class extent_receiver final : public chunk_receiver {
 public:
  using extent_function = std::function<status(std::uint64_t stream, const store::stored_extent& extent)>;
  using end_function = std::function<status(std::uint64_t stream, const status& outcome)>;
  extent_receiver(store::deduplicator& records, extent_function extent, end_function end)
      : records_(records), extent_(std::move(extent)), end_(std::move(end)) {}

  [[nodiscard]] bool has_select() const noexcept override { return true; }
  [[nodiscard]] status select(std::span<const delivered_chunk> chunks,
                              std::span<std::unique_ptr<chunk_work>> work) override {
    return records_.select(chunks, work, selected_);
  }
  [[nodiscard]] status begin_stream(std::uint64_t) override { return {}; }
  [[nodiscard]] status take(const delivered_chunk& chunk) override {
    const auto extent = records_.store(chunk, selected_);
    return extent ? extent_(chunk.stream, *extent) : extent.error();
  }
  [[nodiscard]] status end_stream(std::uint64_t stream, const status& outcome) override {
    return end_(stream, outcome);
  }

 private:
  store::deduplicator& records_;
  store::deduplicator::selection selected_;
  extent_function extent_;
  end_function end_;
};

namespace {

TEST(engine_sessions, store_streams_that_come_back) {
  const auto files = std::make_shared<volatile_file_system>();
  ASSERT_TRUE(store::make_storage_folders(*files).ok());
  const auto objects = store::open_directory_storage(files, {.writer_id = "e", .pending_objects = 0});
  const store::seal_key key(numbered_key(1));
  store::table_cache tables(*objects, key, MiB);
  auto shards = store::shard_index::open(*objects, key.kind(), tables);
  ASSERT_TRUE(shards.ok());
  store::store_config config = small_config();
  config.container_bytes = 256 * KiB;

  seeded_choices random(1);
  std::vector<std::vector<std::uint8_t>> streams;
  for (const content what : {content::text, content::random, content::zeros, content::runs, content::text}) {
    streams.push_back(make_stream(what, 700'000, random));
  }
  streams.push_back(streams[1]);  // a duplicate
  streams.push_back({});

  auto threads = engine::make({.threads = 3});
  ASSERT_TRUE(threads.ok());
  const auto cuts = parse_canonical("gear(min_bytes=512,avg_bytes=2048,max_bytes=8192,table=fastcdc2020)");
  ASSERT_TRUE(cuts.ok()) << cuts.error().message();
  std::uint64_t stored_bytes = 0;
  for (int round = 0; round < 2; ++round) {
    store::own_containers own;
    store::record_writer records(*objects, key, config.container_bytes, own, blake3_fingerprinter());
    store::deduplicator session(config, *shards, records, sha256());
    std::vector<std::vector<store::stored_extent>> extents(streams.size());
    std::size_t ended = 0;
    extent_receiver receiver(
        session,
        [&](std::uint64_t stream, const store::stored_extent& extent) {
          extents[stream].push_back(extent);
          return status();
        },
        [&](std::uint64_t stream, const status& outcome) {
          EXPECT_EQ(stream, ended);
          ++ended;
          return outcome;
        });
    auto feed = threads->open({.cuts = *cuts}, receiver);
    ASSERT_TRUE(feed.ok()) << feed.error().message();
    for (std::size_t i = 0; i < streams.size(); ++i) {
      memory_source source(streams[i]);
      ASSERT_TRUE(feed_source(*feed, i, source).ok());
    }
    ASSERT_TRUE(feed->finish().ok());
    ASSERT_TRUE(session.finish().ok());
    EXPECT_EQ(ended, streams.size());
    if (round == 0) {
      stored_bytes = records.stored_bytes();
      EXPECT_LT(stored_bytes, 3 * 700'000u) << "duplicates, runs and text take less";
    } else {
      EXPECT_EQ(records.stored_bytes(), 0u) << "everything was stored by the first round";
    }
    store::record_reader reader(*objects, key, *shards, sha256());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      std::vector<std::uint8_t> read;
      for (const store::stored_extent& each : extents[i]) {
        EXPECT_NE(each.record.hint, 0u);
        const auto content = reader.read_chunk(each.record);
        ASSERT_TRUE(content.ok()) << content.error().message();
        for (std::uint64_t n = 0; n < each.count; ++n) read.insert(read.end(), content->begin(), content->end());
      }
      EXPECT_EQ(read, streams[i]) << i;
    }
  }
}

}  // namespace
// A session that stores what simulated lanes cut and fingerprint: the processor and a GPU together reach the sum of their rates,
// unless the store itself bounds them, and the stream comes back.

namespace {

constexpr double MB = 1e6;
constexpr double of_a_core = 20 * MB;
constexpr std::uint64_t stream_bytes = 48 * MiB + 17;

/// A machine on which mapping a segment takes milliseconds, as on a real one.
simulated_machine machine_of(std::uint64_t cores, std::size_t devices, double device_rate) {
  simulated_machine machine;
  machine.rates.processor = {.lane_count = cores, .chunking = 2 * of_a_core, .fingerprinting = 2 * of_a_core};
  for (std::size_t i = 0; i < devices; ++i) {
    machine.rates.devices.push_back({.device = static_cast<int>(i),
                                     .link_in = 4 * device_rate,
                                     .link_out = 4 * device_rate,
                                     .latency_seconds = 20e-6,
                                     .chunking = 2 * device_rate,
                                     .fingerprinting = 2 * device_rate,
                                     .out_share = 0.01});
  }
  return machine;
}

/// Stores a stream in a store of its own. Returns its speed, and expects that it comes back.
double speed_of_session(const simulated_machine& machine, const std::vector<std::uint8_t>& stream) {
  const auto files = std::make_shared<volatile_file_system>();
  EXPECT_TRUE(store::make_storage_folders(*files).ok());
  const auto objects = store::open_directory_storage(files, {.writer_id = "s", .pending_objects = 0});
  const store::seal_key key(numbered_key(1));
  store::table_cache tables(*objects, key, MiB);
  auto shards = store::shard_index::open(*objects, key.kind(), tables);
  EXPECT_TRUE(shards.ok());
  store::store_config config = small_config();
  config.container_bytes = 4 * MiB;
  store::own_containers own;
  store::record_writer records(*objects, key, config.container_bytes, own, blake3_fingerprinter());
  store::deduplicator session(config, *shards, records, sha256());
  std::vector<store::stored_extent> extents;
  extent_receiver receiver(
      session,
      [&](std::uint64_t, const store::stored_extent& extent) {
        extents.push_back(extent);
        return status();
      },
      [](std::uint64_t, const status& outcome) { return outcome; });
  feed_options options{.cuts = *parse_canonical("gear(min_bytes=512,avg_bytes=1024,max_bytes=2048,table=fastcdc2020)"),
                       .fingerprint = fingerprint_kind::sha256,
                       .where = backend::hybrid,
                       .rates = std::make_shared<const job_rates>(machine.rates),
                       .segment_bytes = 32 * KiB,
                       .batch_bytes = 1 * MiB,
                       .memory_bytes = 24 * MiB};
  options.devices.clear();
  for (const device_rates& each : machine.rates.devices) options.devices.push_back(each.device);
  const auto run = simulate_feed(machine, options, stream, receiver);
  EXPECT_TRUE(run.ok()) << run.error().message();
  EXPECT_TRUE(session.finish().ok());
  EXPECT_EQ(run->statistics.plan, work_plan::shared);
  for (const simulated_lane& each : run->lanes) EXPECT_GT(each.task_count, 0u) << "lane of device " << each.device;
  store::record_reader reader(*objects, key, *shards, sha256());
  std::size_t position = 0;
  bool is_right = true;
  for (const store::stored_extent& each : extents) {
    const auto content = reader.read_chunk(each.record);
    for (std::uint64_t i = 0; is_right && i < each.count; ++i, position += content->size()) {
      is_right = content.ok() && position + content->size() <= stream.size() &&
                 std::equal(content->begin(), content->end(), stream.begin() + static_cast<std::ptrdiff_t>(position));
    }
    if (!is_right) break;
  }
  EXPECT_TRUE(is_right) << "other bytes at " << position;
  EXPECT_EQ(position, stream.size());
  return run->bytes_per_second();
}

TEST(simulated_sessions, reach_nine_tenths_of_the_sum_of_their_lanes) {
  seeded_choices random(7);
  const auto stream = make_stream(content::random, stream_bytes, random);
  for (const auto& [cores, devices, device_rate] :
       {std::tuple(2u, 1u, 100 * MB), std::tuple(8u, 1u, 200 * MB), std::tuple(8u, 2u, 400 * MB)}) {
    const double sum = cores * of_a_core + devices * device_rate;
    const double speed = speed_of_session(machine_of(cores, devices, device_rate), stream);
    EXPECT_GT(speed, 0.9 * sum) << cores << " cores, " << devices << " devices";
    EXPECT_LT(speed, 1.02 * sum);
  }
}

TEST(simulated_sessions, are_bound_by_the_store_if_it_is_slower) {
  seeded_choices random(8);
  const auto stream = make_stream(content::random, stream_bytes / 2, random);
  simulated_machine machine = machine_of(8, 1, 200 * MB);
  machine.rates.delivery = 120 * MB;
  const double speed = speed_of_session(machine, stream);
  EXPECT_GT(speed, 0.9 * 120 * MB);
  EXPECT_LT(speed, 1.02 * 120 * MB);
}

}  // namespace
}  // namespace cutpoint::tests
