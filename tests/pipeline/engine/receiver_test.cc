// Tests of what a receiver can do with chunks: keep their bytes within a limit, and have work on them done on several
// lanes between selection and delivery.
#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

#include <cutpoint/engine.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/made.h"
#include "tests/host/support/case_count.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/selecting_recorder.h"
#include "tests/pipeline/support/virtual_lanes.h"

namespace cutpoint::tests {
namespace {

using std::chrono::seconds;

std::vector<std::uint8_t> mixed_bytes(std::size_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  return make_stream(content::mixed, size, random);
}

status feed_streams(std::uint64_t thread_count, const feed_options& options,
                    const std::vector<std::vector<std::uint8_t>>& streams, chunk_receiver& receiver) {
  auto threads = engine::make({.threads = thread_count});
  if (!threads) return threads.error();
  auto feed = threads->open(options, receiver);
  if (!feed) return feed.error();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (status begun = feed->begin(i); !begun.ok()) return begun;
    if (status written = feed->write(streams[i]); !written.ok()) return written;
    if (status ended = feed->end(); !ended.ok()) return ended;
  }
  return feed->finish();
}

// --- Kept bytes ------------------------------------------------------------------------------------------------------

/// A chunk that is kept, with its digest to check the bytes by.
struct kept_chunk {
  kept_bytes bytes;
  digest expected;

  [[nodiscard]] bool is_intact() const {
    auto make = fingerprinter::make(fingerprint_kind::sha256);
    return *(*make)(bytes.view()) == expected;
  }
};

/// Keeps the last chunks, and checks each when it is released.
class window_keeper final : public chunk_receiver {
 public:
  explicit window_keeper(std::size_t most_chunks) : most_chunks_(most_chunks) {}

  status begin_stream(std::uint64_t stream) override { return out.begin_stream(stream); }
  status take(const delivered_chunk& chunk) override {
    if (kept.size() == most_chunks_) {
      all_intact = all_intact && kept.front().is_intact();
      kept.pop_front();
    }
    auto bytes = chunk.keep();
    if (!bytes) return bytes.error();
    kept.push_back({*std::move(bytes), chunk.fingerprint});
    return out.take(chunk);
  }
  status end_stream(std::uint64_t stream, const status& outcome) override { return out.end_stream(stream, outcome); }

  recorder out;
  std::deque<kept_chunk> kept;
  bool all_intact = true;

 private:
  std::size_t most_chunks_;
};

feed_options keeping_options() {
  return {.cuts = made("gear", "min_bytes=1024,avg_bytes=4096,max_bytes=16384"),
          .segment_bytes = 64 * KiB,
          .memory_bytes = 1 * MiB,
          .kept_memory_bytes = 300'000};
}

constexpr std::size_t everything = ~std::size_t{0};

TEST(kept_bytes, of_all_chunks_end_the_feed_with_an_error_that_names_the_limit) {
  const auto stream = mixed_bytes(3 * MiB, 9100);
  for (const std::uint64_t thread_count : {1u, 3u}) {
    window_keeper keeper(everything);
    const status outcome = feed_streams(thread_count, keeping_options(), {stream}, keeper);
    EXPECT_EQ(outcome.code(), status_code::memory_limit);
    EXPECT_THAT(outcome.message(), testing::HasSubstr("kept_memory_bytes allows"));
    EXPECT_THAT(outcome.message(), testing::HasSubstr("300000"));
    EXPECT_THAT(outcome.message(), testing::HasSubstr("offset "));
    std::uint64_t kept = 0;
    for (const kept_chunk& each : keeper.kept) {
      kept += each.bytes.view().size();
      EXPECT_TRUE(each.is_intact());  // after the feed and the engine
    }
    EXPECT_LE(kept, 300'000u);
    EXPECT_GT(kept, 300'000u - 2 * 16384);
  }
}

TEST(kept_bytes, of_a_window_are_right_and_change_no_chunk_in_little_memory) {
  const auto stream = mixed_bytes(6 * MiB, 9101);
  const feed_options options = keeping_options();
  for (const std::uint64_t thread_count : {1u, 2u, 4u}) {
    window_keeper keeper(15);
    const status outcome = feed_streams(thread_count, options, {stream, {}, stream}, keeper);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_EQ(keeper.out.fault, "");
    EXPECT_EQ(keeper.out.streams[0].chunks, options.cuts.find_cuts(stream));
    EXPECT_EQ(keeper.out.streams[2].chunks, options.cuts.find_cuts(stream));
    EXPECT_TRUE(keeper.all_intact);
    for (const kept_chunk& each : keeper.kept) EXPECT_TRUE(each.is_intact());
  }
}

TEST(kept_bytes, are_refused_without_memory_for_them) {
  feed_options options = keeping_options();
  options.kept_memory_bytes = 0;
  window_keeper keeper(1);
  const status outcome = feed_streams(1, options, {mixed_bytes(100'000, 9102)}, keeper);
  EXPECT_EQ(outcome.code(), status_code::memory_limit);
  EXPECT_THAT(outcome.message(), testing::HasSubstr("the 0 bytes that kept_memory_bytes allows"));
  options.kept_memory_bytes = options.memory_bytes;
  EXPECT_EQ(feed_streams(1, options, {{}}, keeper).code(), status_code::memory_limit);
  options.kept_memory_bytes = options.memory_bytes - 8 * KiB;  // less is left than a cut may depend on
  EXPECT_EQ(feed_streams(1, options, {{}}, keeper).code(), status_code::memory_limit);
}

TEST(kept_bytes, are_named_as_a_part_of_the_memory_that_a_chunk_outgrows) {
  feed_options options = keeping_options();
  options.cuts = made("gear", "max_bytes=0");
  options.kept_memory_bytes = 256 * KiB;
  window_keeper keeper(1);
  const status outcome = feed_streams(2, options, {std::vector<std::uint8_t>(2 * MiB, 0)}, keeper);
  EXPECT_EQ(
      outcome.message(),
      "the chunk at offset 0 outgrows the memory allowed, 768K (memory_bytes = 1M less kept_memory_bytes = 256K): "
      "give a maximum chunk size or more memory");
}

/// Hands kept bytes to another thread, and waits for it to release some if no more can be kept.
class releasing_elsewhere final : public chunk_receiver {
 public:
  releasing_elsewhere() : releaser_([this] { release_all(); }) {}
  ~releasing_elsewhere() override {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    changed_.notify_all();
    releaser_.join();
  }

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& chunk) override {
    auto bytes = chunk.keep();
    while (!bytes) {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, seconds(60), [this] { return waiting_.empty(); })) return bytes.error();
      lock.unlock();
      std::this_thread::yield();  // the other thread may still hold the last one
      bytes = chunk.keep();
    }
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({*std::move(bytes), chunk.fingerprint});
    }
    ++taken;
    changed_.notify_all();
    return {};
  }
  status end_stream(std::uint64_t, const status&) override { return {}; }

  std::uint64_t taken = 0;
  std::atomic<std::uint64_t> released = 0;
  std::atomic<bool> all_intact = true;

 private:
  void release_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_done_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      kept_chunk next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (!next.is_intact()) all_intact = false;
      next.bytes = {};
      ++released;
      changed_.notify_all();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<kept_chunk> waiting_;
  bool is_done_ = false;
  std::thread releaser_;
};

TEST(kept_bytes, are_released_on_another_thread_while_the_feed_waits_for_them) {
  const auto stream = mixed_bytes(4 * MiB, 9103);
  feed_options options = keeping_options();
  options.kept_memory_bytes = 40'000;
  {
    releasing_elsewhere receiver;
    const status outcome = feed_streams(2, options, {stream}, receiver);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_GT(receiver.taken, 300u);
    while (receiver.released < receiver.taken) std::this_thread::yield();
    EXPECT_TRUE(receiver.all_intact);
  }
}

TEST(kept_bytes, of_a_chunk_that_no_feed_delivered_have_no_limit) {
  const std::vector<std::uint8_t> bytes(100'000, 7);
  const delivered_chunk chunk{.length = bytes.size(), .bytes = bytes};
  const auto kept = chunk.keep();
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), kept->view().begin(), kept->view().end()));
  EXPECT_TRUE(kept_bytes().view().empty());
}

// --- Selection and work ----------------------------------------------------------------------------------------------

feed_options working_options(cancellation* cancel = nullptr) {
  return {.cuts = made("gear", "min_bytes=1024,avg_bytes=4096,max_bytes=16384"),
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
    const feed_options options{.cuts = made("gear", "min_bytes=64,avg_bytes=128,max_bytes=400"),
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
    const bool met = changed.wait_for(lock, seconds(60), [&] { return have_met; });
    --working;
    return met ? status() : status(status_code::backend_failure, "one lane does all the work");
  };
  const std::vector<std::vector<std::uint8_t>> streams = {mixed_bytes(5 * MiB, 9200),
                                                          {},
                                                          mixed_bytes(1, 9201),
                                                          std::vector<std::uint8_t>(3 * MiB, 0),
                                                          mixed_bytes(70'000, 9202)};
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

TEST(chunk_work, is_done_by_a_single_thread_too) {
  selecting_recorder receiver;
  receiver.work_interval = 3;
  const auto stream = mixed_bytes(3 * MiB, 9203);
  const feed_options options = working_options();
  const status outcome = feed_streams(1, options, {stream}, receiver);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(receiver.out.fault, "");
  EXPECT_EQ(receiver.out.streams[0].chunks, options.cuts.find_cuts(stream));
}

TEST(chunk_work, that_fails_ends_the_feed_with_its_status) {
  const auto stream = mixed_bytes(4 * MiB, 9205);
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
  EXPECT_EQ(feed_streams(2, working_options(), {mixed_bytes(100'000, 9206)}, receiver).code(),
            status_code::memory_limit);
}

TEST(chunk_work, stops_when_the_feed_is_cancelled) {
  const auto stream = mixed_bytes(4 * MiB, 9207);
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

TEST(chunk_work, is_destroyed_with_a_feed_that_is_dropped) {
  selecting_recorder receiver;
  std::atomic<std::uint64_t> worked = 0;
  receiver.on_work = [&](const delivered_chunk&) { return ++worked, status(); };
  {
    auto threads = engine::make({.threads = 2});
    auto feed = threads->open(working_options(), receiver);
    ASSERT_TRUE(feed->begin(0).ok() && feed->write(mixed_bytes(3 * MiB, 9208)).ok());
    while (worked == 0) std::this_thread::yield();
  }
  EXPECT_EQ(receiver.living_work, 0);
}

TEST(selection, that_fails_ends_the_feed_with_its_status) {
  selecting_recorder receiver;
  receiver.on_select = [] { return status(status_code::io_error, "the index cannot be read"); };
  const status outcome = feed_streams(2, working_options(), {mixed_bytes(4 * MiB, 9209)}, receiver);
  EXPECT_EQ(outcome.message(), "the index cannot be read");
  EXPECT_TRUE(receiver.out.streams.empty());
}

TEST(selection, without_memory_ends_the_feed_with_memory_limit) {
  for (const std::uint64_t thread_count : {1u, 3u}) {
    for (const int granted_selections : {0, 2}) {
      int left = granted_selections;
      selecting_recorder receiver;
      receiver.on_select = [&]() -> status {
        if (left-- == 0) throw std::bad_alloc();
        return {};
      };
      const status outcome = feed_streams(thread_count, working_options(), {mixed_bytes(4 * MiB, 9211)}, receiver);
      EXPECT_EQ(outcome.code(), status_code::memory_limit);
      EXPECT_EQ(receiver.out.fault, "") << "a call after the failure";
      EXPECT_EQ(receiver.living_work, 0);
    }
  }
}

TEST(chunk_work, can_keep_bytes_on_several_lanes) {
  std::mutex mutex;
  std::vector<kept_chunk> kept;
  std::atomic<std::uint64_t> refused = 0;
  selecting_recorder receiver;
  receiver.on_work = [&](const delivered_chunk& chunk) {
    auto bytes = chunk.keep();
    if (!bytes) return ++refused, status();
    const std::lock_guard lock(mutex);
    kept.push_back({*std::move(bytes), chunk.fingerprint});
    return status();
  };
  feed_options options = working_options();
  options.fingerprint = fingerprint_kind::sha256;
  options.kept_memory_bytes = 1'000'000;
  ASSERT_TRUE(feed_streams(4, options, {mixed_bytes(4 * MiB, 9210)}, receiver).ok());
  EXPECT_GT(refused, 0u);
  std::uint64_t total = 0;
  for (const kept_chunk& each : kept) {
    EXPECT_TRUE(each.is_intact());
    total += each.bytes.view().size();
  }
  EXPECT_LE(total, 1'000'000u);
  EXPECT_GT(total, 900'000u);
}

}  // namespace
}  // namespace cutpoint::tests
