// Which task a lane takes next, step by step.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/pipeline/support/lanes_by_hand.h"

namespace cutpoint::tests {
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

}  // namespace
}  // namespace cutpoint::tests
