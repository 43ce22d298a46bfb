// Tests of many feeds in the bounded memory of one engine: each is opened or refused, whatever the others do, and one that is open never
// waits for another.
#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include <cutpoint/chunks.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

constexpr std::size_t many = 64;

engine make_engine(std::uint64_t threads, std::uint64_t memory_bytes, std::uint64_t thread_limit = 0) {
  return value_of(engine::make({.threads = threads, .thread_limit = thread_limit, .memory_bytes = memory_bytes}));
}

/// Returns the number of bytes that a refusal says would do.
std::uint64_t enough_bytes(const status& refusal) {
  EXPECT_EQ(refusal.code(), status_code::memory_limit);
  const std::string before = "memory_bytes = ";
  const std::string after = " of the engine would do";
  const std::size_t begin = refusal.message().rfind(before);
  const std::size_t end = refusal.message().rfind(after);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << refusal.message();
    return 0;
  }
  return value_of(parse_size(refusal.message().substr(begin + before.size(), end - begin - before.size())));
}

/// Feeds that stay open, with their receivers.
class open_feeds {
 public:
  [[nodiscard]] status open(engine& threads, const feed_options& options) {
    auto new_feed = threads.open(options, receivers_.emplace_back());
    if (!new_feed) return new_feed.error();
    feeds.push_back(*std::move(new_feed));
    return {};
  }

  std::list<feed> feeds;

  [[nodiscard]] const std::list<recorder>& receivers() const { return receivers_; }

 private:
  std::list<recorder> receivers_;
};

struct threads_and_limit {
  std::uint64_t threads;
  std::uint64_t thread_limit;
};

class many_feeds : public testing::TestWithParam<threads_and_limit> {};

TEST_P(many_feeds, are_fed_in_turn_by_one_thread) {
  for (const auto& [name, parameters] :
       {std::pair("fastcdc", "avg_bytes=64K,max_bytes=256K"), {"ae-max", ""}, {"rabin", ""}}) {
    engine threads = make_engine(GetParam().threads, 64 * MiB, GetParam().thread_limit);
    const feed_options options{.cuts = chunker_of(name, parameters), .fingerprint = fingerprint_kind::xxh3};
    open_feeds all;
    for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(all.open(threads, options).message(), "");
    std::vector<std::vector<std::uint8_t>> streams;
    for (std::size_t i = 0; i < many; ++i) streams.push_back(make_stream(content::random, 300'000 + i * 5'003, i));
    for (feed& each : all.feeds) ASSERT_TRUE(each.begin(0).ok());
    constexpr std::size_t block = 40'000;
    for (std::size_t done = 0; done < streams.back().size(); done += block) {
      auto stream = streams.begin();
      for (feed& each : all.feeds) {
        const byte_span bytes(*stream++);
        if (done < bytes.size()) {
          ASSERT_EQ(each.write(bytes.subspan(done, std::min(block, bytes.size() - done))).message(), "");
        }
      }
    }
    for (feed& each : all.feeds) ASSERT_TRUE(each.end().ok());
    for (feed& each : all.feeds) ASSERT_TRUE(each.finish().ok());
    auto stream = streams.begin();
    for (const recorder& each : all.receivers())
      EXPECT_EQ(each.streams.at(0).chunks, options.cuts.find_cuts(*stream++));
  }
}

INSTANTIATE_TEST_SUITE_P(with, many_feeds,
                         testing::Values(threads_and_limit{1, 0}, threads_and_limit{2, 0}, threads_and_limit{4, 1},
                                         threads_and_limit{16, 0}),
                         [](const auto& tested) {
                           return fmt::format("{}_threads_and_limit_{}", tested.param.threads,
                                              tested.param.thread_limit);
                         });

TEST(bounded_engine, are_opened_at_any_time_where_the_memory_is_enough) {
  const feed_options options{.cuts = chunker_of("fastcdc"), .fingerprint = fingerprint_kind::none};
  engine threads = make_engine(2, 2 * 8 * least_memory_bytes(options));
  std::atomic<int> refusals = 0;
  std::vector<std::thread> clients;
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&] {
      recorder receiver;
      const std::vector<std::uint8_t> bytes = make_stream(content::random, 100'000, 1);
      for (int i = 0; i < 50; ++i) {
        if (!feed_streams(threads, options, {bytes}, receiver).ok()) ++refusals;
      }
    });
  }
  for (std::thread& each : clients) each.join();
  EXPECT_EQ(refusals, 0);
}

TEST(bounded_engine, are_refused_with_the_memory_that_would_do) {
  const feed_options options{.cuts = chunker_of("fastcdc", "avg_bytes=64K,max_bytes=256K")};
  engine threads = make_engine(2, 4 * MiB);
  open_feeds all;
  status refusal;
  while ((refusal = all.open(threads, options)).ok()) ASSERT_LT(all.feeds.size(), 100u);
  EXPECT_EQ(all.feeds.size(), 2 * MiB / least_memory_bytes(options));
  EXPECT_THAT(refusal.message(), testing::HasSubstr(options.cuts.canonical()));
  EXPECT_EQ(enough_bytes(threads.check_memory(least_memory_bytes(options))), enough_bytes(refusal));
  engine enough = make_engine(2, enough_bytes(refusal));
  EXPECT_TRUE(enough.check_memory((all.feeds.size() + 1) * least_memory_bytes(options)).ok());
  open_feeds one_more;
  for (std::size_t i = 0; i <= all.feeds.size(); ++i) EXPECT_EQ(one_more.open(enough, options).message(), "");
  EXPECT_FALSE(one_more.open(enough, options).ok()) << "no more than that";
  const std::string further = " of the engine would do for this one; each further one needs ";
  const std::size_t begin = refusal.message().find(further) + further.size();
  ASSERT_LT(begin, refusal.message().size()) << refusal.message();
  const std::uint64_t bytes =
      value_of(parse_size(refusal.message().substr(begin, refusal.message().find(' ', begin) - begin)));
  engine of_many = make_engine(2, enough_bytes(refusal) + 40 * bytes);
  open_feeds many_more;
  for (std::size_t i = 0; i < all.feeds.size() + 41; ++i) EXPECT_EQ(many_more.open(of_many, options).message(), "");
  all.feeds.pop_back();
  EXPECT_TRUE(all.open(threads, options).ok()) << "a feed that is gone gives its memory back";
}

TEST(bounded_engine, one_alone_may_need_nearly_all) {
  feed_options options{.cuts = chunker_of("fastcdc", "avg_bytes=256K,max_bytes=4M")};
  const std::uint64_t least = least_memory_bytes(options);
  EXPECT_EQ(enough_bytes([&] {
              engine too_small = make_engine(2, least - 4096);
              open_feeds none;
              return none.open(too_small, options);
            }()),
            least);
  engine threads = make_engine(2, least);
  recorder receiver;
  const std::vector<std::uint8_t> bytes = make_stream(content::random, 9'000'000, 1);
  ASSERT_EQ(feed_streams(threads, options, {bytes}, receiver).message(), "");
  EXPECT_EQ(receiver.streams.at(0).chunks, options.cuts.find_cuts(bytes));
  open_feeds two;
  ASSERT_TRUE(two.open(threads, options).ok());
  EXPECT_EQ(enough_bytes(two.open(threads, {.cuts = chunker_of("gear")})),
            2 * (least / 2 + least % 2 + least_memory_bytes({.cuts = chunker_of("gear")})));
}

TEST(bounded_engine, without_a_maximum_may_find_chunks_as_long_as_their_own_memory) {
  engine threads = make_engine(2, 16 * MiB);
  const feed_options options{
      .cuts = chunker_of("gear", "max_bytes=0"), .fingerprint = fingerprint_kind::none, .memory_bytes = 2 * MiB};
  EXPECT_EQ(least_memory_bytes(options), 2 * MiB);
  open_feeds all;
  for (int i = 0; i < 4; ++i) ASSERT_EQ(all.open(threads, options).message(), "");
  for (feed& each : all.feeds) EXPECT_EQ(each.statistics().ring_bytes, all.feeds.front().statistics().ring_bytes);
  EXPECT_EQ(enough_bytes(all.open(threads, options)), 20 * MiB);
}

TEST(bounded_engine, leave_buffers_that_stay_where_they_are) {
  const feed_options options{.cuts = chunker_of("fastcdc")};
  engine threads = make_engine(2, 2 * least_memory_bytes(options));
  open_feeds one;
  ASSERT_TRUE(one.open(threads, options).ok());
  const std::vector<std::uint8_t> bytes = make_stream(content::random, 3'000'000, 1);
  EXPECT_EQ(value_of(chunk_buffer(threads, options, bytes)).size(), options.cuts.find_cuts(bytes).size());
}

}  // namespace
}  // namespace cutpoint::tests
