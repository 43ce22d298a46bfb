// Tests of the engine with threads: it delivers the sequential cuts in order to any number of feeds, and leaves no
// thread and no memory behind.
#include <fstream>
#include <thread>

#include <cutpoint/cut_stream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/held_resources.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

engine with_threads(std::uint64_t count) {
  auto new_engine = engine::make({.threads = count});
  EXPECT_TRUE(new_engine.ok());
  return *std::move(new_engine);
}

std::vector<std::uint8_t> mixed(std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(content::mixed, size, random);
}

status feed_all(engine& engine, const feed_options& options, const std::vector<std::vector<std::uint8_t>>& streams,
                chunk_receiver& out) {
  auto feed = engine.open(options, out);
  if (!feed) return feed.error();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (status s = feed->begin(i); !s.ok()) return s;
    if (status s = feed->write(streams[i]); !s.ok()) return s;
    if (status s = feed->end(); !s.ok()) return s;
  }
  return feed->finish();
}

std::size_t ring_count() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("cutpoint ring") != std::string::npos ? 1U : 0U;
  return count;
}

class engine_of_every_name : public testing::TestWithParam<std::string> {};

TEST_P(engine_of_every_name, is_cut_on_three_threads_as_sequentially) {
  const chunker cuts = affordable_chunker(GetParam());
  const std::uint64_t size = std::max<std::uint64_t>(3 * MiB, 2 * cuts.reach()) + 4321;
  const std::vector<std::vector<std::uint8_t>> streams = {mixed(size, 8001), {}, mixed(40'000, 8002), mixed(1, 8003)};
  engine threads = with_threads(3);
  for (const map_kind map : {map_kind::automatic, map_kind::candidates, map_kind::cuts}) {
    if (map != map_kind::automatic && cuts.reach() > 1 * MiB) break;  // the test would take too long under sanitizers
    recorder out;
    const status outcome =
        feed_all(threads, {.cuts = cuts, .fingerprint = fingerprint_kind::xxh3, .map = map, .segment_bytes = size / 9},
                 streams, out);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    ASSERT_EQ(out.fault, "");
    ASSERT_EQ(out.streams.size(), streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      EXPECT_EQ(out.streams[i].chunks, cuts.find_cuts(streams[i]));
      EXPECT_EQ(out.streams[i].bytes, streams[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, engine_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

TEST(engine, serves_several_feeds_at_once) {
  engine threads = with_threads(3);
  std::vector<std::thread> feeders;
  std::vector<recorder> outs(4);
  std::vector<status> outcomes(outs.size());
  std::vector<std::vector<std::uint8_t>> streams;
  for (std::size_t i = 0; i < outs.size(); ++i) streams.push_back(mixed(900'000 + i, 8100 + i));
  const std::vector<std::string> names = {"gear", "seqcdc-inc", "ae-max", "fastcdc"};
  for (std::size_t i = 0; i < outs.size(); ++i) {
    feeders.emplace_back([&, i] {
      outcomes[i] = feed_all(threads, {.cuts = chunker_of(names[i]), .segment_bytes = 70'000}, {streams[i]}, outs[i]);
    });
  }
  for (std::thread& f : feeders) f.join();
  for (std::size_t i = 0; i < outs.size(); ++i) {
    ASSERT_TRUE(outcomes[i].ok()) << outcomes[i].message();
    EXPECT_EQ(outs[i].streams[0].chunks, chunker_of(names[i]).find_cuts(streams[i]));
  }
}

TEST(engine, gives_the_same_however_it_is_fed) {
  const chunker cuts = chunker_of("gear", "min_bytes=64,avg_bytes=256,max_bytes=2048");
  const auto stream = mixed(300'000, 8200);
  const auto expected = cuts.find_cuts(stream);
  engine threads = with_threads(2);
  for (const read_sizes& sizes : {always(1), primes(), random_sizes(5), whole()}) {
    recorder out;
    auto feed = threads.open({.cuts = cuts, .segment_bytes = 10'000}, out);
    ASSERT_TRUE(feed.ok());
    piecewise_source source(stream, sizes);
    ASSERT_TRUE(feed_source(*feed, 7, source).ok());
    ASSERT_TRUE(feed->finish().ok());
    EXPECT_EQ(out.streams[0].chunks, expected);
    EXPECT_EQ(out.streams[0].stream, 7u);
    EXPECT_EQ(feed->statistics().fed_bytes, stream.size());
  }
}

TEST(engine, leaves_no_thread_and_no_memory_behind) {
  const held_resources before = held_resources::now();
  const std::size_t rings_before = ring_count();
  const auto stream = mixed(2'000'000, 8300);
  for (int round = 0; round < 20; ++round) {
    engine threads = with_threads(4);
    recorder out;
    auto feed = threads.open({.cuts = chunker_of("rabin"), .segment_bytes = 50'000}, out);
    ASSERT_TRUE(feed.ok());
    ASSERT_TRUE(feed->begin(0).ok());
    ASSERT_TRUE(feed->write(byte_span(stream).first(static_cast<std::size_t>(round) * 100'000)).ok());
    // The feed is destroyed before its stream ends.
  }
  EXPECT_EQ(what_is_left(before), "");
  EXPECT_EQ(ring_count(), rings_before);
}

TEST(engine, ends_with_the_receivers_failure) {
  engine threads = with_threads(3);
  const auto stream = mixed(4'000'000, 8400);
  for (std::uint64_t call = 1; call < 180; call += 13) {
    recorder out;
    out.fail_at(call, {status_code::io_error, "no room for chunks"});
    const status outcome = feed_all(threads, {.cuts = chunker_of("gear"), .segment_bytes = 100'000}, {stream}, out);
    EXPECT_EQ(outcome.message(), "no room for chunks");
    EXPECT_EQ(out.calls, call);
  }
}

TEST(engine, stops_when_it_is_cancelled) {
  engine threads = with_threads(2);
  cancellation cancel;
  recorder out;
  auto feed = threads.open({.cuts = chunker_of("gear"), .cancel = &cancel}, out);
  ASSERT_TRUE(feed.ok());
  ASSERT_TRUE(feed->begin(0).ok());
  std::thread other([&] { cancel.request(); });
  const std::vector<std::uint8_t> block(100'000, 1);
  status outcome;
  while (outcome.ok()) outcome = feed->write(block);
  other.join();
  EXPECT_EQ(outcome.code(), status_code::cancelled);
  EXPECT_EQ(feed->finish().code(), status_code::cancelled);
  EXPECT_EQ(feed->failure().code(), status_code::cancelled);
}

TEST(engine, finishes_what_was_fed_within_the_grace_of_a_cancellation) {
  engine threads = with_threads(2);
  const auto stream = mixed(500'000, 8600);
  for (const auto grace : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(std::chrono::hours(1))}) {
    cancellation cancel;
    recorder out;
    auto feed = threads.open({.cuts = chunker_of("fastcdc"), .cancel = &cancel, .cancel_grace = grace}, out);
    ASSERT_TRUE(feed.ok());
    ASSERT_TRUE(feed->begin(0).ok());
    ASSERT_TRUE(feed->write(stream).ok());
    cancel.request();
    status outcome = feed->end();
    if (outcome.ok()) outcome = feed->finish();
    EXPECT_EQ(outcome.code(), grace.count() == 0 ? status_code::cancelled : status_code::ok);
  }
}

TEST(engine, goes_on_after_a_stream_that_fails) {
  engine threads = with_threads(2);
  const auto stream = mixed(500'000, 8500);
  const chunker cuts = chunker_of("fastcdc");
  recorder out;
  auto feed = threads.open({.cuts = cuts, .segment_bytes = 40'000}, out);
  ASSERT_TRUE(feed.ok());
  piecewise_source failing(stream, whole());
  failing.fail_after(300'000, {status_code::io_error, "bad sector"});
  EXPECT_EQ(feed_source(*feed, 0, failing).message(), "bad sector");
  EXPECT_TRUE(feed->failure().ok());
  memory_source whole_stream(stream);
  EXPECT_TRUE(feed_source(*feed, 1, whole_stream).ok());
  ASSERT_TRUE(feed->finish().ok());
  const auto expected = cuts.find_cuts(stream);
  piecewise_source again(stream, whole());
  again.fail_after(300'000, {status_code::io_error, "bad sector"});
  EXPECT_EQ(out.streams[0].chunks, cut_all(again, cuts, stream).chunks) << "as the sequential cutter";
  EXPECT_EQ(out.streams[0].outcome.message(), "bad sector");
  EXPECT_EQ(out.streams[1].chunks, expected);
}

TEST(engine, fails_only_the_stream_whose_chunk_outgrows_the_memory) {
  engine threads = with_threads(2);
  const chunker cuts = chunker_of("gear", "max_bytes=0");
  const std::vector<std::uint8_t> endless(3 * MiB, 0);  // gear finds no cut in zeros
  const auto stream = mixed(500'000, 8600);
  recorder out;
  auto feed = threads.open({.cuts = cuts, .memory_bytes = 1 * MiB}, out);
  ASSERT_TRUE(feed.ok());
  memory_source too_long(endless);
  const status outcome = feed_source(*feed, 0, too_long);
  EXPECT_EQ(outcome.code(), status_code::memory_limit);
  EXPECT_THAT(outcome.message(), testing::HasSubstr("the chunk at offset 0 outgrows the memory allowed"));
  memory_source fits(stream);
  EXPECT_TRUE(feed_source(*feed, 1, fits).ok());
  EXPECT_TRUE(feed->finish().ok());
  ASSERT_EQ(out.streams.size(), 2u);
  EXPECT_EQ(out.streams[0].outcome.code(), status_code::memory_limit);
  EXPECT_EQ(out.streams[1].chunks, cuts.find_cuts(stream));
}

TEST(engine, goes_on_after_a_chunk_that_outgrew_the_memory_where_candidates_look_far_ahead) {
  std::vector<std::uint8_t> rising(8 * MiB);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<std::uint8_t>(i >> 15U);
  const chunker cuts = chunker_of("ae-max", "window=2000000,max_bytes=0");
  const auto stream = mixed(3 * MiB, 8601);
  for (const std::uint64_t thread_count : {1u, 2u}) {
    engine threads = with_threads(thread_count);
    recorder out;
    auto feed = threads.open(
        {.cuts = cuts, .where = backend::scalar, .map = map_kind::candidates, .memory_bytes = 4 * MiB}, out);
    ASSERT_TRUE(feed.ok());
    memory_source too_long(rising);
    EXPECT_EQ(feed_source(*feed, 0, too_long).code(), status_code::memory_limit);
    memory_source fits(stream);
    const status next = feed_source(*feed, 1, fits);
    EXPECT_TRUE(next.ok()) << next.message();
    EXPECT_TRUE(feed->finish().ok());
    ASSERT_EQ(out.streams.size(), 2u);
    EXPECT_EQ(out.streams[1].chunks, cuts.find_cuts(stream));
  }
}

/// Requests to stop when it gets the first chunk, so that only the feeding thread sees the request.
class stopping_receiver final : public chunk_receiver {
 public:
  explicit stopping_receiver(cancellation& stop) : stop_(stop) {}
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk&) override { return stop_.request(), status(); }
  status end_stream(std::uint64_t, const status&) override { return {}; }

 private:
  cancellation& stop_;
};

TEST(engine, stops_while_it_finishes) {
  const auto stream = mixed(200'000, 8300);
  for (const std::uint64_t thread_count : {1u, 2u, 3u}) {
    cancellation cancel;
    stopping_receiver out(cancel);
    engine threads = with_threads(thread_count);
    auto feed = threads.open({.cuts = chunker_of("gear"), .segment_bytes = 64 * KiB, .cancel = &cancel}, out);
    ASSERT_TRUE(feed->begin(0).ok() && feed->write(stream).ok() && feed->end().ok());
    EXPECT_EQ(feed->finish().code(), status_code::cancelled);
  }
}

TEST(engine, refuses_what_it_cannot_do) {
  EXPECT_EQ(engine::make({.threads = 5000}).error().code(), status_code::invalid_argument);
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
