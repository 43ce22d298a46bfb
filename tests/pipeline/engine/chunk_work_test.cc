// Tests of selection and chunk work: lanes do the work between the selection of a chunk and its delivery.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <cutpoint/engine.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {
namespace {

feed_options working_options(cancellation* cancel = nullptr) {
  return {.cuts = chunker_of("gear", "min_bytes=1024,avg_bytes=4096,max_bytes=16384"),
          .fingerprint = fingerprint_kind::xxh3,
          .segment_bytes = 1 * MiB,
          .cancel = cancel};
}

TEST(chunk_work, is_done_between_selection_and_delivery_whatever_happens_when) {
  for (std::uint64_t seed = 0; seed < case_count(300u); ++seed) {
    seeded_choices random(seed);
    std::vector<fed_stream> streams(random.between(1, 6));
    for (fed_stream& s : streams) s.bytes = make_stream(content::mixed, random.between(0, 9'000), random);
    cancellation cancel;
    const feed_options options{.cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400"),
                               .fingerprint = fingerprint_kind::xxh3,
                               .segment_bytes = 700,
                               .memory_bytes = random.between(6'000, 40'000),
                               .cancel = &cancel};
    selecting_recorder receiver;
    receiver.work_interval = random.between(1, 20);
    if (random.once_in(4)) receiver.out.fail_at(random.between(1, 200), {status_code::io_error, "the disk is full"});
    std::uint64_t left = random.once_in(4) ? random.between(0, 200) : ~std::uint64_t{0};
    receiver.on_work = [&](const delivered_chunk&) {
      return left-- == 0 ? status(status_code::io_error, "the work failed") : status();
    };
    const bool is_cancelled = random.once_in(4);
    const auto run = run_on_virtual_lanes(
        options, random.between(1, 5), streams, receiver, random,
        {.cancel_at = is_cancelled ? random.between(1, 120) : ~std::uint64_t{0}, .cancel = &cancel});
    ASSERT_EQ(run.fault, "") << "seed " << seed;
    ASSERT_EQ(receiver.out.fault, "") << "seed " << seed;
    if (!run.outcome.ok()) {
      EXPECT_THAT(run.outcome.code(), testing::AnyOf(status_code::io_error, status_code::cancelled));
      continue;
    }
    ASSERT_EQ(receiver.waiting_count(), 0u);
    ASSERT_EQ(receiver.out.streams.size(), streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      EXPECT_EQ(receiver.out.streams[i].chunks, options.cuts.find_cuts(streams[i].bytes)) << "seed " << seed;
      EXPECT_TRUE(receiver.out.streams[i].has_ended);
    }
  }
}

TEST(chunk_work, is_done_on_several_lanes_at_once_and_taken_in_order) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> seen;
  bool have_met = false;
  int working = 0;
  selecting_recorder receiver;
  receiver.on_work = [&](const delivered_chunk&) {  // waits, at first, until two lanes work at once
    std::unique_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
    if (++working >= 2) have_met = true;
    changed.notify_all();
    const bool met = changed.wait_for(lock, std::chrono::seconds(60), [&] { return have_met; });
    --working;
    return met ? status() : status(status_code::backend_failure, "one lane does all the work");
  };
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_stream(5 * MiB, 9200),
                                                          {},
                                                          mixed_stream(1, 9201),
                                                          std::vector<std::uint8_t>(3 * MiB, 0),
                                                          mixed_stream(70'000, 9202)};
  const feed_options options = working_options();
  const status outcome = feed_streams(3, options, streams, receiver);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(receiver.out.fault, "");
  EXPECT_GE(seen.size(), 2u);
  EXPECT_GT(receiver.largest_selection, 20u);
  ASSERT_EQ(receiver.out.streams.size(), streams.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    EXPECT_EQ(receiver.out.streams[i].chunks, options.cuts.find_cuts(streams[i]));
    EXPECT_EQ(receiver.out.streams[i].bytes, streams[i]);
  }
}

TEST(chunk_work, that_fails_ends_the_feed_with_its_status) {
  const auto stream = mixed_stream(4 * MiB, 9205);
  for (const std::uint64_t thread_count : {1u, 3u}) {
    std::atomic<int> left = 200;
    selecting_recorder receiver;
    receiver.on_work = [&](const delivered_chunk&) {
      return --left == 0 ? status(status_code::io_error, "the compressor failed") : status();
    };
    const status outcome = feed_streams(thread_count, working_options(), {stream}, receiver);
    EXPECT_EQ(outcome.code(), status_code::io_error);
    EXPECT_EQ(outcome.message(), "the compressor failed");
    EXPECT_EQ(receiver.out.fault, "");
    EXPECT_EQ(receiver.living_work, 0);
  }
}

TEST(chunk_work, without_memory_ends_the_feed_with_memory_limit) {
  selecting_recorder receiver;
  receiver.on_work = [&](const delivered_chunk&) -> status { throw std::bad_alloc(); };
  EXPECT_EQ(feed_streams(2, working_options(), {mixed_stream(100'000, 9206)}, receiver).code(),
            status_code::memory_limit);
}

TEST(chunk_work, stops_when_the_feed_is_cancelled) {
  const auto stream = mixed_stream(4 * MiB, 9207);
  for (const std::uint64_t thread_count : {1u, 3u}) {
    cancellation cancel;
    std::atomic<std::uint64_t> worked = 0;
    selecting_recorder receiver;
    receiver.on_work = [&](const delivered_chunk&) {
      if (++worked == 20) cancel.request();
      return status();
    };
    EXPECT_EQ(feed_streams(thread_count, working_options(&cancel), {stream}, receiver).code(), status_code::cancelled);
    EXPECT_LT(worked, 20u + 10 * thread_count);  // each lane finishes the chunk that it works on
    EXPECT_EQ(receiver.out.fault, "");
  }
}

TEST(selection, that_fails_ends_the_feed_with_its_status) {
  selecting_recorder receiver;
  receiver.on_select = [] { return status(status_code::io_error, "the index cannot be read"); };
  const status outcome = feed_streams(2, working_options(), {mixed_stream(4 * MiB, 9209)}, receiver);
  EXPECT_EQ(outcome.message(), "the index cannot be read");
  EXPECT_TRUE(receiver.out.streams.empty());
}

}  // namespace
}  // namespace cutpoint::tests
