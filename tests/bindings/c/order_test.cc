// Calls at the wrong time: out of order, from callbacks, by two threads at once, after a failure, and after handles are destroyed.
#include <future>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "tests/bindings/c/handles.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;

const std::vector<std::uint8_t>& random_bytes() {
  static const std::vector<std::uint8_t> bytes = [] {
    seeded_choices random(1);
    return make_stream(content::random, 3'000'000, random);
  }();
  return bytes;
}

TEST(order, of_calls_is_checked) {
  const engine_handle engine = make_engine(1);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_WRONG_STATE);
  EXPECT_STREQ(last_error(feed.get()).message, "no stream has begun");
  EXPECT_EQ(cutpoint_feed_write_zeros(feed.get(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 2), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), -1), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_BUSY), CUTPOINT_INVALID_ARGUMENT);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_WRONG_STATE);
  EXPECT_STREQ(last_error(feed.get()).message, "the feed has been finished");
  cutpoint_chunk chunk = {};
  std::size_t count = 0;
  EXPECT_EQ(cutpoint_feed_take(feed.get(), &chunk, 1, &count), CUTPOINT_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(chunk.stream, 1u);
}

TEST(order, a_failed_callback_ends_the_feed) {
  for (const std::uint64_t threads : {1u, 3u}) {
    const engine_handle engine = make_engine(threads);
    int calls = 0;
    chunk_calls failing{[&](const cutpoint_chunk&) { return ++calls == 3 ? -5 : 0; }};
    const cutpoint_receiver receiver = failing.receiver();
    const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
    EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_CALLBACK_FAILED);
    EXPECT_STREQ(last_error(feed.get()).message, "the callback take_chunk returned -5");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(cutpoint_feed_begin(feed.get(), 9), CUTPOINT_CALLBACK_FAILED);
    EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_CALLBACK_FAILED);
  }
}

TEST(order, each_callback_may_fail) {
  const engine_handle engine = make_engine(1);
  cutpoint_receiver receiver = {};
  receiver.struct_bytes = sizeof receiver;
  receiver.begin_stream = [](void*, std::uint64_t) { return 1; };
  const feed_handle beginning = open_feed(engine.get(), options_for("gear"), &receiver);
  EXPECT_EQ(feed_one(beginning.get(), random_bytes()), CUTPOINT_CALLBACK_FAILED);
  EXPECT_THAT(last_error(beginning.get()).message, HasSubstr("begin_stream"));
  receiver.begin_stream = nullptr;
  receiver.end_stream = [](void*, std::uint64_t, cutpoint_status) { return 2; };
  const feed_handle ending = open_feed(engine.get(), options_for("gear"), &receiver);
  EXPECT_EQ(feed_one(ending.get(), random_bytes()), CUTPOINT_CALLBACK_FAILED);
  EXPECT_THAT(last_error(ending.get()).message, HasSubstr("end_stream returned 2"));
}

TEST(order, what_a_callback_throws_goes_no_further) {
  const engine_handle engine = make_engine(2);
  chunk_calls throwing{[](const cutpoint_chunk&) -> int { throw std::runtime_error("of the caller"); }};
  const cutpoint_receiver receiver = throwing.receiver();
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
  EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_CALLBACK_FAILED);
  EXPECT_STREQ(last_error(feed.get()).message, "the callback take_chunk has thrown");
}

TEST(order, a_callback_may_not_call_its_feed) {
  for (const std::uint64_t threads : {1u, 3u}) {
    const engine_handle engine = make_engine(threads);
    cutpoint_feed* feed = nullptr;
    std::uint64_t calls = 0;
    chunk_calls calling{[&](const cutpoint_chunk&) {
      ++calls;
      cutpoint_statistics statistics = {};
      statistics.struct_bytes = sizeof statistics;
      EXPECT_EQ(cutpoint_feed_write(feed, "a", 1), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_finish(feed), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_statistics(feed, &statistics), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(cutpoint_feed_destroy(feed), CUTPOINT_WRONG_STATE);
      EXPECT_EQ(last_error(feed).code, CUTPOINT_OK);
      return 0;
    }};
    const cutpoint_receiver receiver = calling.receiver();
    const feed_handle handle = open_feed(engine.get(), options_for("gear"), &receiver);
    feed = handle.get();
    EXPECT_EQ(feed_one(feed, random_bytes()), CUTPOINT_OK);
    EXPECT_GT(calls, 100u);
  }
}

TEST(order, a_second_thread_is_told_to_wait) {
  const engine_handle engine = make_engine(1);  // so that callbacks are made within `finish` and `write`
  std::promise<void> is_in, may_go;
  bool is_first = true;
  chunk_calls waiting{[&](const cutpoint_chunk&) {
    if (std::exchange(is_first, false)) {
      is_in.set_value();
      may_go.get_future().wait();
    }
    return 0;
  }};
  const cutpoint_receiver receiver = waiting.receiver();
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &receiver);
  std::thread feeding([&] { EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK); });
  is_in.get_future().wait();
  cutpoint_statistics statistics = {};
  statistics.struct_bytes = sizeof statistics;
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "a", 1), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_statistics(feed.get(), &statistics), CUTPOINT_BUSY);
  EXPECT_EQ(cutpoint_feed_destroy(feed.get()), CUTPOINT_BUSY);
  EXPECT_EQ(last_error(feed.get()).code, CUTPOINT_OK);
  may_go.set_value();
  feeding.join();
  EXPECT_EQ(cutpoint_feed_statistics(feed.get(), &statistics), CUTPOINT_OK);
  EXPECT_EQ(statistics.fed_bytes, random_bytes().size());
}

TEST(order, a_cancelled_feed_stops) {
  const engine_handle engine = make_engine(2);
  const feed_handle idle = open_feed(engine.get(), options_for("gear"));
  EXPECT_EQ(cutpoint_feed_cancel(idle.get()), CUTPOINT_OK);
  EXPECT_EQ(feed_one(idle.get(), random_bytes()), CUTPOINT_CANCELLED);
  EXPECT_EQ(cutpoint_feed_begin(idle.get(), 1), CUTPOINT_CANCELLED);

  cutpoint_feed* feed = nullptr;
  std::uint64_t calls = 0;
  chunk_calls cancelling{[&](const cutpoint_chunk&) {
    ++calls;
    return static_cast<int>(cutpoint_feed_cancel(feed));
  }};
  const cutpoint_receiver receiver = cancelling.receiver();
  const feed_handle handle = open_feed(engine.get(), options_for("gear"), &receiver);
  feed = handle.get();
  std::vector<std::uint8_t> bytes = random_bytes();
  for (int i = 0; i < 3; ++i) bytes.insert(bytes.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(feed_one(feed, bytes), CUTPOINT_CANCELLED);
  EXPECT_EQ(last_error(feed).code, CUTPOINT_CANCELLED);
  EXPECT_GE(calls, 1u);
}

TEST(order, an_engine_may_go_before_its_feeds) {
  engine_handle engine = make_engine(2);
  const feed_handle feed = open_feed(engine.get(), options_for("gear"));
  engine.reset();
  EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK);
}

TEST(order, a_feed_may_go_at_any_time) {
  const engine_handle engine = make_engine(2);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, random_bytes().size()}) {
    const feed_handle feed = open_feed(engine.get(), options_for("gear"));
    EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
    EXPECT_EQ(cutpoint_feed_write(feed.get(), random_bytes().data(), size), CUTPOINT_OK);
  }
}

TEST(order, no_bytes_are_taken_while_too_many_chunks_wait) {
  const engine_handle engine = make_engine(1);
  cutpoint_feed_options options = options_for("gear");
  options.waiting_chunks = 10;
  const feed_handle feed = open_feed(engine.get(), options);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  std::vector<cutpoint_chunk> room(1000);
  std::uint64_t refused = 0, most = 0, end = 0;
  std::size_t count = 0;
  const auto take = [&] {
    EXPECT_EQ(cutpoint_feed_take(feed.get(), room.data(), room.size(), &count), CUTPOINT_OK);
    most = std::max<std::uint64_t>(most, count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(room[i].offset, end);
      end += room[i].length * room[i].count;
    }
  };
  const std::size_t block_bytes = 100'000;
  for (std::size_t position = 0; position < random_bytes().size();) {
    const cutpoint_status written = cutpoint_feed_write(feed.get(), &random_bytes()[position], block_bytes);
    if (written == CUTPOINT_OK) position += block_bytes;
    if (written == CUTPOINT_CHUNKS_WAITING) ++refused, take();
    ASSERT_TRUE(written == CUTPOINT_OK || written == CUTPOINT_CHUNKS_WAITING);
  }
  EXPECT_EQ(cutpoint_feed_end(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  take();
  EXPECT_EQ(end, random_bytes().size());
  EXPECT_GT(refused, 0u);
}

TEST(order, chunks_go_to_one_place) {
  const engine_handle engine = make_engine(1);
  cutpoint_receiver nowhere = {};
  nowhere.struct_bytes = sizeof nowhere;
  const feed_handle feed = open_feed(engine.get(), options_for("gear"), &nowhere);
  EXPECT_EQ(feed_one(feed.get(), random_bytes()), CUTPOINT_OK);
  cutpoint_chunk chunk;
  std::size_t count = 1;
  EXPECT_EQ(cutpoint_feed_take(feed.get(), &chunk, 1, &count), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(count, 0u);
}

TEST(order, a_chunk_that_outgrows_the_memory_ends_its_stream_alone) {
  const engine_handle engine = make_engine(1);
  cutpoint_feed_options options = options_for("gear(max_bytes=0)");
  options.memory_bytes = 1 << 20;
  std::vector<cutpoint_status> outcomes;
  cutpoint_receiver receiver = {};
  receiver.struct_bytes = sizeof receiver;
  receiver.context = &outcomes;
  receiver.end_stream = [](void* context, std::uint64_t, cutpoint_status outcome) {
    static_cast<std::vector<cutpoint_status>*>(context)->push_back(outcome);
    return 0;
  };
  const feed_handle feed = open_feed(engine.get(), options, &receiver);
  const std::vector<std::uint8_t> endless(3 << 20, 1);  // in a run gear finds no cut
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 0), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), endless.data(), endless.size()), CUTPOINT_MEMORY_LIMIT);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), endless.data(), 1), CUTPOINT_WRONG_STATE);
  EXPECT_EQ(cutpoint_feed_begin(feed.get(), 1), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_write(feed.get(), "abc", 3), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_end(feed.get(), CUTPOINT_IO_ERROR), CUTPOINT_OK);
  EXPECT_EQ(cutpoint_feed_finish(feed.get()), CUTPOINT_OK);
  EXPECT_EQ(outcomes, (std::vector<cutpoint_status>{CUTPOINT_MEMORY_LIMIT, CUTPOINT_IO_ERROR}));
}

}  // namespace
}  // namespace cutpoint::tests
