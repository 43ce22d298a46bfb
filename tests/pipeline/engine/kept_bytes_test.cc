// Tests of kept bytes: receivers keep the bytes of chunks within a limit, and release them on any thread.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <cutpoint/engine.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

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
    if (chunks_kept.size() == most_chunks_) {
      all_intact = all_intact && chunks_kept.front().is_intact();
      chunks_kept.pop_front();
    }
    auto bytes = chunk.keep();
    if (!bytes) return bytes.error();
    chunks_kept.push_back({*std::move(bytes), chunk.fingerprint});
    return out.take(chunk);
  }
  status end_stream(std::uint64_t stream, const status& outcome) override { return out.end_stream(stream, outcome); }

  recorder out;
  std::deque<kept_chunk> chunks_kept;
  bool all_intact = true;

 private:
  std::size_t most_chunks_;
};

feed_options keeping_options() {
  return {.cuts = chunker_of("gear", "min_bytes=1024,avg_bytes=4096,max_bytes=16384"),
          .segment_bytes = 64 * KiB,
          .memory_bytes = 1 * MiB,
          .kept_memory_bytes = 300'000};
}

constexpr std::size_t everything = ~std::size_t{0};

TEST(kept_bytes, of_all_chunks_end_the_feed_with_an_error_that_names_the_limit) {
  const auto stream = mixed_stream(3 * MiB, 9100);
  for (const std::uint64_t thread_count : {1u, 3u}) {
    window_keeper keeper(everything);
    const status outcome = feed_streams(thread_count, keeping_options(), {stream}, keeper);
    EXPECT_EQ(outcome.code(), status_code::memory_limit);
    EXPECT_THAT(outcome.message(), testing::HasSubstr("kept_memory_bytes allows"));
    EXPECT_THAT(outcome.message(), testing::HasSubstr("300000"));
    EXPECT_THAT(outcome.message(), testing::HasSubstr("offset "));
    std::uint64_t kept_total = 0;
    for (const kept_chunk& each : keeper.chunks_kept) {
      kept_total += each.bytes.view().size();
      EXPECT_TRUE(each.is_intact());  // after the feed and the engine
    }
    EXPECT_LE(kept_total, 300'000u);
    EXPECT_GT(kept_total, 300'000u - 2 * 16384);
  }
}

TEST(kept_bytes, of_a_window_are_right_and_change_no_chunk_in_little_memory) {
  const auto stream = mixed_stream(6 * MiB, 9101);
  const feed_options options = keeping_options();
  for (const std::uint64_t thread_count : {1u, 2u, 4u}) {
    window_keeper keeper(15);
    const status outcome = feed_streams(thread_count, options, {stream, {}, stream}, keeper);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_EQ(keeper.out.fault, "");
    EXPECT_EQ(keeper.out.streams[0].chunks, options.cuts.find_cuts(stream));
    EXPECT_EQ(keeper.out.streams[2].chunks, options.cuts.find_cuts(stream));
    EXPECT_TRUE(keeper.all_intact);
    for (const kept_chunk& each : keeper.chunks_kept) EXPECT_TRUE(each.is_intact());
  }
}

TEST(kept_bytes, are_refused_without_memory_for_them) {
  feed_options options = keeping_options();
  options.kept_memory_bytes = 0;
  window_keeper keeper(1);
  const status outcome = feed_streams(1, options, {mixed_stream(100'000, 9102)}, keeper);
  EXPECT_EQ(outcome.code(), status_code::memory_limit);
  EXPECT_THAT(outcome.message(), testing::HasSubstr("the 0 bytes that kept_memory_bytes allows"));
  options.kept_memory_bytes = options.memory_bytes;
  EXPECT_EQ(feed_streams(1, options, {{}}, keeper).code(), status_code::memory_limit);
  options.kept_memory_bytes = options.memory_bytes - 8 * KiB;  // less is left than a cut may depend on
  EXPECT_EQ(feed_streams(1, options, {{}}, keeper).code(), status_code::memory_limit);
}

TEST(kept_bytes, are_named_as_a_part_of_the_memory_that_a_chunk_outgrows) {
  feed_options options = keeping_options();
  options.cuts = chunker_of("gear", "max_bytes=0");
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
      if (!changed_.wait_for(lock, std::chrono::seconds(60), [this] { return waiting_.empty(); })) return bytes.error();
      lock.unlock();
      std::this_thread::yield();  // the other thread may still hold the last one
      bytes = chunk.keep();
    }
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({*std::move(bytes), chunk.fingerprint});
    }
    ++taken_count;
    changed_.notify_all();
    return {};
  }
  status end_stream(std::uint64_t, const status&) override { return {}; }

  std::uint64_t taken_count = 0;
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
  const auto stream = mixed_stream(4 * MiB, 9103);
  feed_options options = keeping_options();
  options.kept_memory_bytes = 40'000;
  {
    releasing_elsewhere receiver;
    const status outcome = feed_streams(2, options, {stream}, receiver);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_GT(receiver.taken_count, 300u);
    while (receiver.released < receiver.taken_count) std::this_thread::yield();
    EXPECT_TRUE(receiver.all_intact);
  }
}

TEST(kept_bytes, of_a_chunk_that_no_feed_delivered_have_no_limit) {
  const std::vector<std::uint8_t> bytes(100'000, 7);
  const delivered_chunk chunk{.length = bytes.size(), .bytes = bytes};
  const auto copy = value_of(chunk.keep());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), copy.view().begin(), copy.view().end()));
  EXPECT_TRUE(kept_bytes().view().empty());
}

TEST(kept_bytes, may_be_kept_by_work_on_several_lanes) {
  std::mutex mutex;
  std::vector<kept_chunk> chunks_kept;
  std::atomic<std::uint64_t> refused = 0;
  selecting_recorder receiver;
  receiver.on_work = [&](const delivered_chunk& chunk) {
    auto bytes = chunk.keep();
    if (!bytes) return ++refused, status();
    const std::lock_guard lock(mutex);
    chunks_kept.push_back({*std::move(bytes), chunk.fingerprint});
    return status();
  };
  feed_options options = keeping_options();
  options.segment_bytes = 1 * MiB;
  options.memory_bytes = 1 * GiB;
  options.kept_memory_bytes = 1'000'000;
  ASSERT_TRUE(feed_streams(4, options, {mixed_stream(4 * MiB, 9210)}, receiver).ok());
  EXPECT_GT(refused, 0u);
  std::uint64_t total = 0;
  for (const kept_chunk& each : chunks_kept) {
    EXPECT_TRUE(each.is_intact());
    total += each.bytes.view().size();
  }
  EXPECT_LE(total, 1'000'000u);
  EXPECT_GT(total, 900'000u);
}

}  // namespace
}  // namespace cutpoint::tests
