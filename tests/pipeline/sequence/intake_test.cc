// What the intake publishes of streams, forced cuts and runs.
#include "pipeline/sequence/intake.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

class intake_into_ring : public testing::Test {
 protected:
  explicit intake_into_ring(intake_options options = {.shortens_runs = true})
      : intake_(ring_, cuts_, run_periods(cuts_, fingerprinter::make(fingerprint_kind::xxh3).value()), options) {}

  void write(byte_span bytes) {
    std::copy(bytes.begin(), bytes.end(), ring_.at(intake_.cursor()));
    ASSERT_TRUE(intake_.commit(bytes.size()).ok());
  }
  void write_random(std::uint64_t count) {
    seeded_choices random(count);
    write(make_stream(content::random, count, random));
  }

  chunker cuts_ = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400");
  ring ring_ = ring::make(2 * MiB).value();
  intake intake_;
};

class intake_with_forced_cuts : public intake_into_ring {
 protected:
  intake_with_forced_cuts() : intake_into_ring({.cut_every = 1000}) {}
};

TEST_F(intake_into_ring, publishes_each_event_once_and_in_order) {
  intake_.begin(7);
  write_random(100);
  intake_.end(range_end::failed, {status_code::io_error, "unreadable"});
  intake_.begin(8);
  const intake_update update = intake_.take_update();
  EXPECT_EQ(update.readable, 100u);
  ASSERT_EQ(update.events.size(), 3u);
  EXPECT_EQ(update.events[0].stream, 7u);
  EXPECT_EQ(update.events[1].position, 100u);
  EXPECT_EQ(update.events[1].how, range_end::failed);
  EXPECT_EQ(update.events[1].outcome.message(), "unreadable");
  EXPECT_EQ(update.events[2].stream, 8u);
  EXPECT_TRUE(intake_.take_update().events.empty());
}

TEST_F(intake_into_ring, removes_whole_chunks_from_a_long_run) {
  const std::uint64_t length = 300'000;
  intake_.begin(0);
  write_random(5000);
  write(std::vector<std::uint8_t>(length, 0x55));
  write_random(3000);
  const intake_update update = intake_.take_update();
  ASSERT_EQ(update.events.size(), 2u);
  const intake_event& run = update.events[1];
  EXPECT_EQ(run.what, intake_event::kind::run);
  const std::uint64_t removed = run.count * run.period.length;
  EXPECT_GT(removed, length - 4 * cuts_.reach() - run.period.length);
  EXPECT_EQ(intake_.cursor() + removed, 5000 + length + 3000);
  EXPECT_EQ(intake_.taken_bytes(), 5000 + length + 3000);
  // At least two reaches of the run stay behind the position of the removed chunks.
  const byte_span run_bytes = ring_.bytes(run.position, run.position + 2 * cuts_.reach());
  EXPECT_TRUE(std::all_of(run_bytes.begin(), run_bytes.end(), [](std::uint8_t byte) { return byte == 0x55; }));
}

TEST_F(intake_into_ring, hides_the_rest_of_a_run_until_its_length_is_known) {
  intake_.begin(0);
  write(std::vector<std::uint8_t>(200'000, 0));
  EXPECT_LT(intake_.take_update().readable, intake_.cursor());
  write_random(100);
  EXPECT_EQ(intake_.take_update().readable, intake_.cursor());
}

TEST_F(intake_into_ring, takes_any_number_of_zeros_within_a_run_of_zeros) {
  intake_.begin(0);
  ASSERT_TRUE(intake_.commit_zeros(200'000, 200'000).ok());
  const std::uint64_t written = intake_.cursor();
  EXPECT_EQ(intake_.commit_zeros(std::uint64_t{1} << 40, 1000).value(), std::uint64_t{1} << 40);
  EXPECT_LE(intake_.cursor(), written + 1000);
  EXPECT_EQ(intake_.taken_bytes(), 200'000 + (std::uint64_t{1} << 40));
}

TEST_F(intake_with_forced_cuts, forces_cuts_only_where_the_stream_goes_on) {
  intake_.begin(0);
  write_random(400);
  write_random(600);
  EXPECT_EQ(intake_.take_update().events.size(), 1u) << "the stream may end at 1000";
  write_random(1001);
  const intake_update update = intake_.take_update();
  ASSERT_EQ(update.events.size(), 2u);
  EXPECT_EQ(update.events[0].position, 1000u);
  EXPECT_EQ(update.events[0].how, range_end::cut);
  EXPECT_EQ(update.events[1].position, 2000u);
}

TEST_F(intake_with_forced_cuts, counts_from_the_beginning_of_each_stream) {
  intake_.begin(0);
  write_random(700);
  intake_.end(range_end::stream, {});
  intake_.begin(1);
  write_random(1100);
  const intake_update update = intake_.take_update();
  ASSERT_EQ(update.events.size(), 4u);
  EXPECT_EQ(update.events[3].position, 1700u);
}

}  // namespace
}  // namespace cutpoint::tests
