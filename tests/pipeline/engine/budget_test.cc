// Tests of what all feeds of an engine share: its memory, its threads, and how much a feed takes without waiting.
#include <atomic>
#include <condition_variable>
#include <list>
#include <thread>

#include <cutpoint/chunks.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/device_feed.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

std::vector<std::uint8_t> random_stream(std::size_t size) { return make_stream(content::random, size, size); }

// --- Memory ----------------------------------------------------------------------------------------------------------

TEST(engine_memory, is_shared_by_all_feeds) {
  constexpr std::uint64_t limit_bytes = 32 * MiB;
  auto lanes = engine::make({.threads = 2, .memory_bytes = limit_bytes}).value();
  const feed_options options{.cuts = chunker_of("fastcdc")};
  std::list<recorder> receivers;
  std::list<feed> feeds;
  const auto open = [&] {
    auto feed_opened = lanes.open(options, receivers.emplace_back());
    if (feed_opened.ok()) feeds.push_back(*std::move(feed_opened));
    return feed_opened.ok() ? status() : feed_opened.error();
  };
  status refusal;
  std::uint64_t ring_bytes = 0;
  while ((refusal = open()).ok()) {
    ASSERT_LE(feeds.size(), 100u) << "nothing bounds their memory";
    EXPECT_LE(feeds.back().statistics().ring_bytes, feeds.front().statistics().ring_bytes) << "the last get less";
    ring_bytes += feeds.back().statistics().ring_bytes;
  }
  EXPECT_GE(feeds.size(), 3u);
  EXPECT_LE(ring_bytes, limit_bytes);
  EXPECT_EQ(refusal.code(), status_code::memory_limit);

  const std::vector<std::uint8_t> bytes = random_stream(3'000'000);
  const std::vector<chunk> expected = options.cuts.find_cuts(bytes);
  auto receiver = receivers.begin();
  for (feed& each : feeds) {
    ASSERT_TRUE(feed_streams(each, {bytes}).ok());
    EXPECT_EQ(receiver++->streams.at(0).chunks, expected);
  }
  feeds.pop_front();
  EXPECT_TRUE(open().ok()) << "a feed that is gone gives its memory back";
}

TEST(engine_memory, is_not_taken_by_bytes_that_stay_where_they_are) {
  auto lanes = engine::make({.threads = 2, .memory_bytes = 4 * MiB}).value();
  const std::vector<std::uint8_t> bytes = random_stream(20'000'000);
  const chunker cuts = chunker_of("gear");
  EXPECT_EQ(value_of(chunk_buffer(lanes, {.cuts = cuts}, bytes)).size(), cuts.find_cuts(bytes).size());
}

TEST(engine_memory, on_a_device_is_shared_by_all_feeds) {
  constexpr std::uint64_t limit_bytes = 100 * MiB;
  auto lanes = value_of(
      engine_factory::make({.threads = 2, .device_memory_bytes = limit_bytes}, std::make_shared<host_device>()));
  const feed_options options{.cuts = chunker_of("gear", "min_bytes=1024,avg_bytes=4096,max_bytes=16384"),
                             .fingerprint = fingerprint_kind::xxh3,
                             .where = backend::hybrid,
                             .segment_bytes = 64 * KiB,
                             .memory_bytes = 16 * MiB};
  std::list<recorder> receivers;
  std::list<feed> feeds;
  const auto open = [&] { feeds.push_back(value_of(lanes.open(options, receivers.emplace_back()))); };
  const auto warning = [&] { return feeds.back().statistics().device_warning; };
  open();
  EXPECT_EQ(warning(), "");
  for (open(); warning().empty(); open()) ASSERT_LE(feeds.size(), 100u) << "nothing bounds their memory";
  EXPECT_THAT(warning(), testing::HasSubstr("of the 100M that the engine may use on each device"));

  const std::vector<std::uint8_t> bytes = random_stream(1'000'000);
  const std::vector<chunk> expected = options.cuts.find_cuts(bytes);
  auto receiver = receivers.begin();
  for (feed& each : feeds) {
    ASSERT_TRUE(feed_streams(each, {bytes}).ok());
    EXPECT_EQ(receiver++->streams.at(0).chunks, expected);
  }
  feeds.clear();
  open();
  EXPECT_EQ(warning(), "") << "feeds that are gone give their memory back";
}

// --- Threads ---------------------------------------------------------------------------------------------------------

/// The reference's cuts, with a count of the threads that find them at the same time.
class counting_kernel final : public cut_kernel {
 public:
  explicit counting_kernel(chunker cuts) : cuts_(std::move(cuts)) {}

  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override {
    const int now = ++working;
    for (int most = most_working; most < now && !most_working.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));  // so that threads meet here, if they may
    const std::uint64_t length = *cuts_.next_cut({.bytes = bytes, .start = start, .at_end = true});
    --working;
    return length;
  }
  std::string_view backend() const noexcept override { return "counting"; }

  mutable std::atomic<int> working = 0;
  mutable std::atomic<int> most_working = 0;

 private:
  chunker cuts_;
};

/// The most threads that cut at a time, of an engine that eight threads feed.
int most_working_threads(std::uint64_t thread_limit) {
  constexpr std::size_t feed_count = 8;
  auto lanes = engine::make({.threads = 2, .thread_limit = thread_limit}).value();
  const chunker cuts = chunker_of("gear", "min_bytes=2K,avg_bytes=4K,max_bytes=8K");
  const auto kernel = std::make_shared<counting_kernel>(cuts);
  const std::vector<std::uint8_t> bytes = random_stream(1'000'000);
  const std::vector<chunk> expected = cuts.find_cuts(bytes);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < feed_count; ++i) {
    threads.emplace_back([&] {
      recorder out;
      ASSERT_TRUE(feed_streams(lanes, {.cuts = cuts.by(kernel), .segment_bytes = 128 * KiB}, {bytes}, out).ok());
      EXPECT_EQ(out.streams.at(0).chunks, expected);
    });
  }
  for (std::thread& each : threads) each.join();
  return kernel->most_working;
}

TEST(engine_threads, are_limited_over_all_feeds) {
  EXPECT_EQ(most_working_threads(1), 1);
  EXPECT_LE(most_working_threads(3), 3);
  EXPECT_GT(most_working_threads(0), 3) << "each thread that feeds works besides the engine's";
}

// --- Kernels ---------------------------------------------------------------------------------------------------------

TEST(chunk_buffer, cuts_by_the_kernel_of_the_chunker) {
  auto lanes = engine::make({.threads = 2}).value();
  const chunker cuts = chunker_of("gear");
  const auto kernel = std::make_shared<counting_kernel>(cuts);
  const std::vector<std::uint8_t> bytes = random_stream(500'000);
  const auto chunks = value_of(chunk_buffer(lanes, {.cuts = cuts.by(kernel)}, bytes));
  EXPECT_EQ(chunks.size(), cuts.find_cuts(bytes).size());
  EXPECT_GT(kernel->most_working, 0) << "it was not used";
}

TEST(chunk_buffer, refuses_a_back_end_beside_a_kernel_of_none) {
  auto lanes = engine::make({.threads = 1}).value();
  const chunker cuts = chunker_of("gear");
  const status refused = error_of(
      chunk_buffer(lanes, {.cuts = cuts.by(std::make_shared<counting_kernel>(cuts)), .where = backend::scalar}, {}));
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_THAT(refused.message(), testing::HasSubstr("kernel 'counting' belongs to no back end"));
}

TEST(engine, keeps_the_back_end_that_a_chunker_was_given) {
  auto lanes = engine::make({.threads = 1}).value();
  for (const backend_info& each : processor_backends()) {
    if (!each.runs_here) continue;
    const chunker cuts = chunker_on(chunker_of("gear"), each.kind).value();
    if (backend_of(cuts) == backend::scalar) continue;
    recorder out;
    EXPECT_EQ(lanes.open({.cuts = cuts}, out).value().statistics().chunked_on, backend_of(cuts));
  }
}

// --- Event loops -----------------------------------------------------------------------------------------------------

/// Takes nothing before it is told to. Remembers the threads that called it.
class gated_receiver final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& chunk) override {
    std::unique_lock lock(mutex_);
    opening_.wait(lock, [this] { return is_open_; });
    bytes += chunk.length * chunk.count;
    if (std::this_thread::get_id() == feeding_thread) ++calls_while_feeding;
    return {};
  }
  status end_stream(std::uint64_t, const status&) override { return {}; }

  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    opening_.notify_all();
  }

  const std::thread::id feeding_thread = std::this_thread::get_id();
  std::uint64_t bytes = 0;
  int calls_while_feeding = 0;

 private:
  std::mutex mutex_;
  std::condition_variable opening_;
  bool is_open_ = false;
};

TEST(feed_room, is_taken_without_waiting_and_without_working) {
  auto lanes = engine::make({.threads = 2}).value();
  gated_receiver receiver;
  auto feed = lanes.open({.cuts = chunker_of("gear"), .memory_bytes = 8 * MiB}, receiver).value();
  const std::vector<std::uint8_t> bytes = random_stream(32 * MiB);
  ASSERT_TRUE(feed.begin(0).ok());
  std::uint64_t done = 0;
  const auto write_what_fits = [&] {
    const std::uint64_t count = std::min<std::uint64_t>(feed.room(), bytes.size() - done);
    EXPECT_TRUE(feed.write(byte_span(bytes).subspan(done, count)).ok());
    done += count;
    return count;
  };
  while (write_what_fits() != 0) {  // ends although the receiver takes nothing
  }
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, bytes.size());
  receiver.open();
  while (done < bytes.size()) {
    if (write_what_fits() == 0) std::this_thread::yield();
  }
  ASSERT_TRUE(feed.end().ok());
  EXPECT_EQ(receiver.calls_while_feeding, 0);
  ASSERT_TRUE(feed.finish().ok());
  EXPECT_EQ(receiver.bytes, bytes.size());
}

TEST(feed_room, of_an_engine_of_one_thread_is_made_by_writing) {
  recorder out;
  const chunker cuts = chunker_of("gear");
  const std::vector<std::uint8_t> bytes = random_stream(16 * MiB);
  ASSERT_TRUE(feed_streams(1, {.cuts = cuts}, {bytes}, out).ok());
  EXPECT_EQ(out.streams.at(0).chunks, cuts.find_cuts(bytes));
}

}  // namespace
}  // namespace cutpoint::tests
