// The engine feeds a session: lanes compress new chunks, and the streams come back.
#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>
#include <gtest/gtest.h>

#include "tests/store/support/extent_receiver.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {
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
}  // namespace cutpoint::tests
