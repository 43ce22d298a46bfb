// Tests of the engine with threads: it delivers the sequential cuts in order to any number of feeds, and leaves no
// thread and no memory behind.
#include <fstream>

#include <cutpoint/chunks.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/held_resources.h"

namespace cutpoint::tests {
namespace {

engine with_threads(std::uint64_t count) { return value_of(engine::make({.threads = count})); }

std::size_t ring_count() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("cutpoint ring") != std::string::npos ? 1U : 0U;
  return count;
}

class engine_of_every_name : public testing::TestWithParam<std::string> {};

TEST_P(engine_of_every_name, is_cut_on_three_threads_as_sequentially) {
  const chunker cuts = affordable_chunker(GetParam());
  const std::uint64_t size = std::max<std::uint64_t>(1 * MiB, 2 * cuts.reach()) + 4321;
  const std::vector<std::vector<std::uint8_t>> streams = {
      mixed_stream(size, 8001), {}, mixed_stream(40'000, 8002), mixed_stream(1, 8003)};
  engine threads = with_threads(3);
  for (const map_kind map : {map_kind::automatic, map_kind::candidates, map_kind::cuts}) {
    // The first is one of the others, which both would take long with sanitizers for long chunks.
    if ((map == map_kind::automatic) != (cuts.reach() > 1 * MiB)) continue;
    const feed_options options{
        .cuts = cuts, .fingerprint = fingerprint_kind::xxh3, .map = map, .segment_bytes = size / 9};
    recorder out;
    const status outcome = feed_streams(threads, options, streams, out);
    ASSERT_NO_FATAL_FAILURE(expect_sequential(outcome, out, options, streams));
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, engine_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

TEST(engine, gives_the_same_however_it_is_fed) {
  const chunker cuts = chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=2048");
  const auto stream = mixed_stream(300'000, 8200);
  const auto expected = cuts.find_cuts(stream);
  engine threads = with_threads(2);
  for (const read_sizes& sizes : {always(1), primes(), random_sizes(5), whole()}) {
    recorder out;
    auto feed = value_of(threads.open({.cuts = cuts, .segment_bytes = 10'000}, out));
    piecewise_source source(stream, sizes);
    ASSERT_TRUE(feed_source(feed, 7, source).ok());
    ASSERT_TRUE(feed.finish().ok());
    EXPECT_EQ(out.streams[0].chunks, expected);
    EXPECT_EQ(out.streams[0].stream, 7u);
    EXPECT_EQ(feed.statistics().fed_bytes, stream.size());
  }
}

TEST(engine, leaves_no_thread_and_no_memory_behind) {
  const held_resources before = held_resources::now();
  const std::size_t rings_before = ring_count();
  const auto stream = mixed_stream(2'000'000, 8300);
  for (int round = 0; round < 20; ++round) {
    engine threads = with_threads(4);
    recorder out;
    auto feed = value_of(threads.open({.cuts = chunker_of("rabin"), .segment_bytes = 50'000}, out));
    ASSERT_TRUE(feed.begin(0).ok());
    ASSERT_TRUE(feed.write(byte_span(stream).first(static_cast<std::size_t>(round) * 100'000)).ok());
    // The feed is destroyed before its stream ends.
  }
  EXPECT_EQ(what_is_left(before), "");
  EXPECT_EQ(ring_count(), rings_before);
}

TEST(engine, finishes_what_was_fed_within_the_grace_of_a_cancellation) {
  engine threads = with_threads(2);
  const auto stream = mixed_stream(500'000, 8600);
  for (const auto grace : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(std::chrono::hours(1))}) {
    cancellation cancel;
    recorder out;
    auto feed = value_of(threads.open({.cuts = chunker_of("fastcdc"), .cancel = &cancel, .cancel_grace = grace}, out));
    ASSERT_TRUE(feed.begin(0).ok());
    ASSERT_TRUE(feed.write(stream).ok());
    cancel.request();
    status outcome = feed.end();
    if (outcome.ok()) outcome = feed.finish();
    EXPECT_EQ(outcome.code(), grace.count() == 0 ? status_code::cancelled : status_code::ok);
  }
}

TEST(engine, fails_only_the_stream_whose_chunk_outgrows_the_memory) {
  engine threads = with_threads(2);
  const chunker cuts = chunker_of("gear", "max_bytes=0");
  const std::vector<std::uint8_t> endless(3 * MiB, 0);  // gear finds no cut in zeros
  const auto stream = mixed_stream(500'000, 8600);
  recorder out;
  auto feed = value_of(threads.open({.cuts = cuts, .memory_bytes = 1 * MiB}, out));
  memory_source too_long(endless);
  const status outcome = feed_source(feed, 0, too_long);
  EXPECT_EQ(outcome.code(), status_code::memory_limit);
  EXPECT_THAT(outcome.message(), testing::HasSubstr("the chunk at offset 0 outgrows the memory allowed"));
  memory_source fits(stream);
  EXPECT_TRUE(feed_source(feed, 1, fits).ok());
  EXPECT_TRUE(feed.finish().ok());
  ASSERT_EQ(out.streams.size(), 2u);
  EXPECT_EQ(out.streams[0].outcome.code(), status_code::memory_limit);
  EXPECT_EQ(out.streams[1].chunks, cuts.find_cuts(stream));
}

TEST(engine, goes_on_after_a_chunk_that_outgrew_the_memory_where_candidates_look_far_ahead) {
  std::vector<std::uint8_t> rising(8 * MiB);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<std::uint8_t>(i >> 15U);
  const chunker cuts = chunker_of("ae-max", "window=2000000,max_bytes=0");
  const auto stream = mixed_stream(3 * MiB, 8601);
  for (const std::uint64_t thread_count : {1u, 2u}) {
    engine threads = with_threads(thread_count);
    recorder out;
    auto feed = value_of(threads.open(
        {.cuts = cuts, .where = backend::scalar, .map = map_kind::candidates, .memory_bytes = 4 * MiB}, out));
    memory_source too_long(rising);
    EXPECT_EQ(feed_source(feed, 0, too_long).code(), status_code::memory_limit);
    memory_source fits(stream);
    const status next = feed_source(feed, 1, fits);
    EXPECT_TRUE(next.ok()) << next.message();
    EXPECT_TRUE(feed.finish().ok());
    ASSERT_EQ(out.streams.size(), 2u);
    EXPECT_EQ(out.streams[1].chunks, cuts.find_cuts(stream));
  }
}

TEST(engine, stops_while_it_finishes) {
  const auto stream = mixed_stream(200'000, 8300);
  for (const std::uint64_t thread_count : {1u, 2u, 3u}) {
    cancellation cancel;
    // The request comes with the first chunk, so that only the feeding thread sees it.
    chunk_callback out([&](const delivered_chunk&) { return cancel.request(), status(); });
    engine threads = with_threads(thread_count);
    const feed_options options{.cuts = chunker_of("gear"), .segment_bytes = 64 * KiB, .cancel = &cancel};
    EXPECT_EQ(feed_streams(threads, options, {stream}, out).code(), status_code::cancelled);
  }
}

TEST(engine, refuses_what_it_cannot_do) {
  EXPECT_EQ(engine::make({.threads = 5000}).error().code(), status_code::invalid_argument);
  EXPECT_EQ(engine::make({.thread_limit = 4097}).error().code(), status_code::invalid_argument);
  engine threads = with_threads(1);
  recorder out;
  const chunker cuts = chunker_of("gear");
  EXPECT_EQ(threads.open({.cuts = cuts, .memory_bytes = 10'000}, out).error().code(), status_code::memory_limit);
  const auto refused = threads.open({.cuts = cuts, .join = join_kind::none, .segment_bytes = 128 * KiB}, out);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("segment = 131072 must be more than 131072"));
  EXPECT_TRUE(threads.open({.cuts = cuts, .join = join_kind::none, .segment_bytes = 128 * KiB + 1}, out).ok());
  const auto unbounded = threads.open({.cuts = chunker_of("gear", "max_bytes=0"), .join = join_kind::pdedupe}, out);
  EXPECT_THAT(unbounded.error().message(), testing::HasSubstr("maximum"));
}

}  // namespace
}  // namespace cutpoint::tests
