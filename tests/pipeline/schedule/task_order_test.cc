// Which task a lane takes next, step by step.
#include <memory>
#include <variant>

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {

/// Lane 0 feeds.
class lanes_by_hand {
 public:
  lanes_by_hand(const feed_options& options, std::uint64_t lane_count) : lanes_by_hand(options, lane_count, out) {}
  lanes_by_hand(const feed_options& options, std::uint64_t lane_count, chunk_receiver& receiver)
      : feed_(stepped_feed::make(options, lane_count, receiver, [&] {
                return make_one_by_one_fingerprinter(fingerprinter::make(options.fingerprint).value());
              }).value()) {
    feed_->begin(0);
  }

  void put_random(std::uint64_t count) {
    feed_->put(make_stream(content::random, count, count));
    feed_->publish();
  }
  [[nodiscard]] bool take(std::size_t lane) { return feed_->take(lane, 0); }
  void hand_back(std::size_t lane) {
    feed_->perform(lane);
    feed_->hand_back(lane, 0);
  }
  template <class Task>
  [[nodiscard]] bool takes(std::size_t lane) {
    return take(lane) && std::holds_alternative<Task>(feed_->current_task(lane).work);
  }
  template <class Task>
  [[nodiscard]] const Task* current_task(std::size_t lane) const {
    return feed_->is_busy(lane) ? std::get_if<Task>(&feed_->current_task(lane).work) : nullptr;
  }
  stepped_feed& operator*() { return *feed_; }
  stepped_feed* operator->() { return feed_.get(); }

  recorder out;  ///< the receiver if no other is given

 private:
  std::unique_ptr<stepped_feed> feed_;
};

namespace {

feed_options ordered_job() {
  return {.cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400"),
          .fingerprint = fingerprint_kind::xxh3,
          .segment_bytes = 2000,
          .memory_bytes = 1 * MiB};
}

TEST(task_order, begins_with_what_others_wait_for) {
  lanes_by_hand feed(ordered_job(), 3);
  feed.put_random(20'000);
  ASSERT_TRUE(feed.takes<map_task>(1));
  EXPECT_TRUE(feed.current_task<map_task>(1)->target->begins_at_true_cut) << "the segment that the join waits for";
  ASSERT_TRUE(feed.takes<map_task>(2));
  EXPECT_EQ(feed.current_task<map_task>(2)->start, 2000u) << "the next one, on speculation";
  feed.hand_back(1);
  ASSERT_TRUE(feed.takes<join_task>(1)) << "before a map of the third segment";
  feed.hand_back(1);
  EXPECT_TRUE(feed.takes<deliver_task>(1)) << "before any map";
}

TEST(task_order, delivers_one_batch_at_a_time) {
  lanes_by_hand feed(ordered_job(), 3);
  feed.put_random(20'000);
  while (feed.take(1) && feed.current_task<deliver_task>(1) == nullptr) feed.hand_back(1);
  ASSERT_NE(feed.current_task<deliver_task>(1), nullptr);
  const std::uint64_t end = feed.current_task<deliver_task>(1)->batch->end;
  while (feed.take(2)) {  // all other work
    ASSERT_EQ(feed.current_task<deliver_task>(2), nullptr);
    feed.hand_back(2);
  }
  feed.hand_back(1);
  ASSERT_TRUE(feed.takes<deliver_task>(2));
  EXPECT_GT(feed.current_task<deliver_task>(2)->batch->end, end);
}

TEST(task_order, frees_room_when_chunks_are_delivered_and_not_before) {
  lanes_by_hand feed(ordered_job(), 2);
  feed.put_random(20'000);
  const std::uint64_t room = feed->room();
  while (feed.take(1) && feed.current_task<deliver_task>(1) == nullptr) feed.hand_back(1);
  ASSERT_NE(feed.current_task<deliver_task>(1), nullptr);
  EXPECT_EQ(feed->room(), room);
  feed.hand_back(1);
  EXPECT_GT(feed->room(), room + 1000);
}

TEST(task_order, pauses_speculation_after_two_misses) {
  feed_options options{.cuts = chunker_of("fixed", "avg_bytes=1000"), .fingerprint = fingerprint_kind::xxh3};
  options.segment_bytes = 4097;
  lanes_by_hand feed(options, 2);
  feed.put_random(400'000);
  std::uint64_t maps_in_pause = 0;
  while (maps_in_pause < 4) {
    for (const std::size_t lane : {0u, 1u}) {
      if (!feed.take(lane)) continue;
      if (feed->statistics().missed_count < 2 || feed.current_task<map_task>(lane) == nullptr) continue;
      EXPECT_TRUE(feed.current_task<map_task>(lane)->target->begins_at_true_cut) << "the lane cuts on speculation";
      ++maps_in_pause;
    }
    for (const std::size_t lane : {0u, 1u}) {
      if (feed->is_busy(lane)) feed.hand_back(lane);
    }
    ASSERT_LE(feed->statistics().missed_count, 3u);
  }
}

TEST(task_order, has_nothing_to_take_after_a_failure) {
  lanes_by_hand feed(ordered_job(), 2);
  feed.put_random(20'000);
  ASSERT_TRUE(feed.take(1));
  feed->work().fail({status_code::io_error, "first"});
  feed->work().fail({status_code::io_error, "second"});
  EXPECT_FALSE(feed.take(0));
  EXPECT_TRUE(feed->work().has_running());
  feed.hand_back(1);
  EXPECT_FALSE(feed->work().has_running());
  EXPECT_EQ(feed->work().failure().message(), "first");
}

TEST(task_order, stops_running_tasks_after_a_failure) {
  feed_options options = ordered_job();
  options.segment_bytes = 200'000;
  lanes_by_hand feed(options, 2);
  feed.put_random(200'000);
  ASSERT_TRUE(feed.takes<map_task>(1));
  const segment& mapped = *feed.current_task<map_task>(1)->target;
  feed->work().fail({status_code::io_error, "elsewhere"});
  feed->perform(1);
  EXPECT_LE(mapped.own.chunks.size(), 1u);
  feed.hand_back(1);
  EXPECT_EQ(feed->work().failure().message(), "elsewhere");
}

// How far selection runs ahead of delivery, and which lane destroys work, step by step.

feed_options selecting_job() {
  return {.cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400"),
          .fingerprint = fingerprint_kind::xxh3,
          .segment_bytes = 20'000,
          .memory_bytes = 1 * MiB};
}

/// The lane performs tasks until it takes a task of this kind, which it keeps.
template <class Task>
[[nodiscard]] bool reach(lanes_by_hand& feed, std::size_t lane) {
  while (feed.take(lane)) {
    if (feed.current_task<Task>(lane) != nullptr) return true;
    feed.hand_back(lane);
  }
  return false;
}

TEST(chunk_work, is_destroyed_by_the_lane_that_delivers_even_if_the_delivery_fails) {
  for (const std::uint64_t failing_call : {~0u, 1u, 5u}) {
    selecting_recorder receiver;
    if (failing_call != ~0u) receiver.out.fail_at(failing_call, {status_code::io_error, "the disk is full"});
    lanes_by_hand feed(selecting_job(), 2, receiver);
    feed.put_random(40'000);
    ASSERT_TRUE(reach<chunk_work_task>(feed, 1));
    feed.hand_back(1);
    ASSERT_TRUE(feed.takes<deliver_task>(1));
    EXPECT_GT(receiver.living_work, 20);
    feed->perform(1);
    EXPECT_EQ(receiver.living_work, 0) << "the rest is destroyed under the engine's lock";
    feed.hand_back(1);
  }
}

TEST(chunk_work, is_destroyed_unperformed_when_the_feed_is_dropped) {
  selecting_recorder receiver;
  std::uint64_t performed = 0;
  receiver.on_work = [&](const delivered_chunk&) { return ++performed, status(); };
  {
    lanes_by_hand feed(selecting_job(), 2, receiver);
    feed.put_random(40'000);
    ASSERT_TRUE(reach<chunk_work_task>(feed, 1));
    EXPECT_GT(receiver.living_work, 20);
  }
  EXPECT_EQ(receiver.living_work, 0);
  EXPECT_EQ(performed, 0u);
}

/// The work of the first chunk takes long, and the other lanes do meanwhile what they can.
TEST(selection, waits_for_slow_work_in_bounded_memory) {
  selecting_recorder receiver;
  receiver.work_interval = ~std::uint64_t{0};
  lanes_by_hand feed(selecting_job(), 3, receiver);
  feed.put_random(40'000);
  ASSERT_TRUE(reach<chunk_work_task>(feed, 2));
  std::uint64_t put = 40'000;
  for (; feed->room() >= 1000 && put < 8 * MiB; put += 1000) {
    feed.put_random(1000);
    while (feed.take(1)) feed.hand_back(1);
  }
  EXPECT_LE(put, 1 * MiB);
  EXPECT_GT(put, 1 * MiB / 2);
  const std::size_t most_chunks = 1 * MiB / 8 / selected_batch::chunk_bytes;
  EXPECT_LE(receiver.waiting_count(), most_chunks);
  EXPECT_GT(receiver.waiting_count(), most_chunks / 2);
  EXPECT_TRUE(receiver.out.streams.empty()) << "chunks are taken before those that precede them";
  feed.hand_back(2);
  while (feed.take(1)) feed.hand_back(1);
  EXPECT_EQ(receiver.waiting_count(), 0u);
  EXPECT_GT(feed->room(), 500'000u);
  EXPECT_EQ(receiver.out.fault, "");
}

TEST(selection, of_the_first_batch_may_be_larger_than_its_part_of_the_memory) {
  feed_options options = selecting_job();
  options.segment_bytes = 64 * KiB;
  options.memory_bytes = 256 * KiB;
  selecting_recorder receiver;
  lanes_by_hand feed(options, 2, receiver);
  feed.put_random(140'000);
  ASSERT_TRUE(reach<chunk_work_task>(feed, 1));
  EXPECT_GT(receiver.waiting_count(), 256 * KiB / 8 / selected_batch::chunk_bytes);
  EXPECT_EQ(receiver.largest_selection, receiver.selected_count) << "another batch is selected ahead";
  do feed.hand_back(1);
  while (feed.take(1));
  EXPECT_EQ(receiver.waiting_count(), 0u);
  EXPECT_GT(receiver.selected_count, receiver.largest_selection);
  EXPECT_EQ(receiver.out.fault, "");
}

}  // namespace
}  // namespace cutpoint::tests
