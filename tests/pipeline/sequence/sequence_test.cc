// Streams, forced cuts and removed runs in one sequence.
#include "pipeline/sequence/sequence.h"

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

using event = intake_event::kind;

/// Stream 7 in [0, 100), the empty stream 8, stream 9 from 100 on, of which 50 bytes are known.
sequence three_streams() {
  sequence streams;
  streams.apply_update({.readable = 150,
                        .events = {{.what = event::begin, .position = 0, .stream = 7},
                                   {.what = event::end, .position = 100, .how = range_end::stream},
                                   {.what = event::begin, .position = 100, .stream = 8},
                                   {.what = event::end, .position = 100, .how = range_end::stream},
                                   {.what = event::begin, .position = 100, .stream = 9}}});
  return streams;
}

TEST(sequence, shows_each_stream_up_to_its_end) {
  const auto ranges = three_streams().visible_ranges(0, 150, 150);
  ASSERT_EQ(ranges.size(), 2u) << "an empty stream has no bytes";
  EXPECT_EQ(ranges[0].end, 100u);
  EXPECT_EQ(ranges[0].how, range_end::stream);
  EXPECT_EQ(ranges[1].begin, 100u);
  EXPECT_EQ(ranges[1].end, 150u);
  EXPECT_EQ(ranges[1].how, range_end::open);
}

TEST(sequence, shows_no_end_beyond_the_visible_bytes) {
  const sequence streams = three_streams();
  const auto cut_off = streams.visible_ranges(40, 150, 99);
  ASSERT_EQ(cut_off.size(), 1u);
  EXPECT_EQ(cut_off[0].begin, 0u) << "the bytes before the first position are visible too";
  EXPECT_EQ(cut_off[0].end, 99u);
  EXPECT_EQ(cut_off[0].how, range_end::open);
  EXPECT_EQ(streams.visible_ranges(40, 150, 100).at(0).how, range_end::stream);
  EXPECT_EQ(streams.visible_ranges(100, 101, 150).at(0).begin, 100u);
}

TEST(sequence, needs_no_lookahead_beyond_the_end_of_a_stream) {
  sequence streams = three_streams();
  EXPECT_TRUE(streams.has_lookahead(100, 1000)) << "the byte before ends its stream";
  EXPECT_TRUE(streams.has_lookahead(130, 20));
  EXPECT_FALSE(streams.has_lookahead(130, 21));
  EXPECT_EQ(streams.last_position_with_lookahead(20), 130u);
  EXPECT_EQ(streams.last_position_with_lookahead(60), 100u) << "no further back than to the open stream's beginning";
  streams.apply_update({.readable = 150, .events = {{.what = event::end, .position = 150, .how = range_end::stream}}});
  EXPECT_TRUE(streams.has_lookahead(150, 1000));
  EXPECT_EQ(streams.last_position_with_lookahead(1000), 150u);
}

TEST(sequence, gives_each_ended_stream_once_and_the_open_one_again) {
  sequence streams = three_streams();
  const auto first = streams.take_entries(99);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].stream, 7u);
  const auto second = streams.take_entries(100);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second[1].stream, 8u);
  EXPECT_EQ(second[2].how, range_end::open);
  EXPECT_EQ(streams.entries().size(), 1u);
  EXPECT_EQ(streams.stream_count(), 3u);
}

TEST(sequence, goes_on_with_the_stream_after_a_forced_cut) {
  sequence streams;
  streams.apply_update({.readable = 80,
                        .events = {{.what = event::begin, .position = 0, .stream = 7},
                                   {.what = event::end, .position = 50, .how = range_end::cut}}});
  ASSERT_EQ(streams.entries().size(), 2u);
  EXPECT_EQ(streams.entries()[1].stream, 7u);
  EXPECT_TRUE(streams.entries()[1].continues);
  EXPECT_EQ(streams.stream_count(), 1u);
  EXPECT_EQ(streams.offset_in_entry(60), 10u);
}

TEST(sequence, gives_runs_that_stand_before_a_position) {
  sequence streams;
  streams.apply_update(
      {.readable = 80,
       .events = {{.what = event::begin, .position = 0, .stream = 7},
                  {.what = event::run, .position = 10, .period = {.length = 4, .fingerprint = {}}, .count = 3},
                  {.what = event::run, .position = 30, .period = {.length = 4, .fingerprint = {}}, .count = 5}}});
  EXPECT_TRUE(streams.take_runs(10).empty()) << "the chunk at 10 comes later";
  const auto runs = streams.take_runs(30);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].count, 3u);
  EXPECT_EQ(streams.take_runs(31).size(), 1u);
}

}  // namespace
}  // namespace cutpoint::tests
