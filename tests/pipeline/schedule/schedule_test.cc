// Tests of the schedule on virtual lanes: in every history it ends, delivers in order, and leaves no task behind.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {
namespace {

constexpr std::string_view tiny_gear = "min_bytes=64,avg_bytes=128,max_bytes=400";

std::vector<fed_stream> drawn_streams(choices& random) {
  std::vector<fed_stream> streams(random.between(1, 6));
  for (fed_stream& s : streams) s.bytes = make_stream(content::mixed, random.between(0, 9'000), random);
  return streams;
}

feed_options small_options(cancellation* cancel = nullptr) {
  return {.cuts = chunker_of("gear", tiny_gear),
          .fingerprint = fingerprint_kind::xxh3,
          .segment_bytes = 700,
          .memory_bytes = 40'000,
          .cancel = cancel};
}

/// Expects the beginning of the full result: whole streams, and then the first chunks of one.
void expect_beginning(const recorder& out, const std::vector<fed_stream>& streams, const chunker& cuts) {
  EXPECT_EQ(out.fault, "");
  ASSERT_LE(out.streams.size(), streams.size());
  for (std::size_t i = 0; i < out.streams.size(); ++i) {
    const recorded_stream& got = out.streams[i];
    const auto expected = cuts.find_cuts(streams[i].bytes);
    ASSERT_LE(got.chunks.size(), expected.size());
    EXPECT_TRUE(std::equal(got.chunks.begin(), got.chunks.end(), expected.begin()));
    if (got.has_ended) {
      EXPECT_EQ(got.chunks.size(), expected.size());
    }
    if (i + 1 < out.streams.size()) {
      EXPECT_TRUE(got.has_ended);
    }
  }
}

TEST(schedule, starves_no_task) {
  for (std::uint64_t seed = 0; seed < case_count(300u); ++seed) {
    seeded_choices random(seed);
    const auto streams = drawn_streams(random);
    std::uint64_t bytes = 0;
    for (const fed_stream& s : streams) bytes += s.bytes.size();
    recorder out;
    const auto run = run_on_virtual_lanes(small_options(), random.between(1, 6), streams, out, random);
    ASSERT_TRUE(run.outcome.ok()) << run.outcome.message();
    ASSERT_EQ(run.fault, "");
    // The steps of a segment: it is mapped, early joined, joined a few times, fingerprinted and delivered, and each
    // task is taken and handed back.
    EXPECT_LT(run.steps, bytes + 24 * (run.statistics.segment_count + streams.size() + 1)) << "seed " << seed;
    EXPECT_EQ(out.streams.size(), streams.size());
  }
}

TEST(schedule, cancelled_at_any_step_leaves_no_task_and_whole_chunks_only) {
  for (std::uint64_t seed = 0; seed < case_count(400u); ++seed) {
    seeded_choices random(seed);
    const auto streams = drawn_streams(random);
    cancellation cancel;
    recorder out;
    const auto run = run_on_virtual_lanes(small_options(&cancel), 3, streams, out, random,
                                          {.cancel_at = random.between(1, 120), .cancel = &cancel});
    EXPECT_EQ(run.fault, "");
    if (!run.outcome.ok()) {
      EXPECT_EQ(run.outcome.code(), status_code::cancelled);
    }
    expect_beginning(out, streams, chunker_of("gear", tiny_gear));
  }
}

TEST(schedule, ends_with_the_receivers_failure_at_any_call) {
  for (std::uint64_t call = 1; call < 400; ++call) {
    seeded_choices random(call);
    const auto streams = drawn_streams(random);
    recorder out;
    out.fail_at(call, {status_code::io_error, "the disk is full"});
    const auto run = run_on_virtual_lanes(small_options(), 4, streams, out, random);
    EXPECT_EQ(run.fault, "");
    EXPECT_EQ(run.outcome.ok(), out.calls < call);
    EXPECT_LE(out.calls, call) << "called again after a failure";
    if (!run.outcome.ok()) {
      EXPECT_EQ(run.outcome.message(), "the disk is full");
    }
    expect_beginning(out, streams, chunker_of("gear", tiny_gear));
  }
}

TEST(schedule, counts_what_is_cut_twice) {
  seeded_choices random(2);
  std::vector<fed_stream> streams(1);
  streams[0].bytes = make_stream(content::random, 1'000'000, random);
  const feed_options options{
      .cuts = chunker_of("gear", tiny_gear), .fingerprint = fingerprint_kind::xxh3, .segment_bytes = 20'000};
  for (const std::uint64_t lanes : {1u, 4u}) {
    recorder out;
    const feed_statistics got = run_on_virtual_lanes(options, lanes, streams, out, random).statistics;
    EXPECT_EQ(got.speculated_count > 0, lanes > 1);
    EXPECT_EQ(got.twice_cut_bytes > 0, lanes > 1);
    EXPECT_LT(got.twice_cut_bytes, streams[0].bytes.size() / 10);
  }
}

/// The intake holds a run back while it may continue, and the map of the segment before the run looks ahead into it.
TEST(schedule, has_room_for_a_run_behind_a_segment_that_waits_for_it) {
  const chunker cuts = chunker_of("ae-max", "avg_bytes=128K,max_bytes=128K");
  for (std::uint64_t before = 700'000; before < 800'000; before += 1'400) {
    seeded_choices random(before);
    std::vector<fed_stream> streams(1);
    streams[0].bytes = make_stream(content::random, before, random);
    streams[0].bytes.resize(before + 12 * 128 * KiB, 0);
    const auto after = make_stream(content::random, 5000, random);
    streams[0].bytes.insert(streams[0].bytes.end(), after.begin(), after.end());
    recorder out;
    const feed_options options{
        .cuts = cuts, .fingerprint = fingerprint_kind::none, .segment_bytes = 1 * MiB, .memory_bytes = 820 * KiB};
    const auto run = run_on_virtual_lanes(options, 2, streams, out, random);
    ASSERT_TRUE(run.outcome.ok()) << run.outcome.message() << " after " << before;
    ASSERT_EQ(out.streams[0].chunks, cuts.find_cuts(streams[0].bytes));
  }
}

std::uint64_t bytes_of(const feed_statistics& statistics, std::initializer_list<stage> stages) {
  std::uint64_t bytes = 0;
  for (const auto& lane : statistics.lanes) {
    for (const stage which : stages) bytes += lane.at(which).bytes;
  }
  return bytes;
}

TEST(schedule, accounts_for_every_byte_that_a_stage_went_over) {
  seeded_choices random(7);
  for (const char* name : {"gear", "fastcdc", "ram"}) {
    for (const std::uint64_t segment_bytes : {3'000u, 20'000u}) {
      std::vector<fed_stream> streams(1);
      streams[0].bytes = make_stream(content::random, 300'000, random);
      const feed_options options{
          .cuts = chunker_of(name), .fingerprint = fingerprint_kind::xxh3, .segment_bytes = segment_bytes};
      recorder out;
      const feed_statistics got = run_on_virtual_lanes(options, 4, streams, out, random).statistics;
      EXPECT_EQ(got.run_bytes, 0u);
      EXPECT_GT(got.twice_cut_bytes, 0u);
      EXPECT_EQ(bytes_of(got, {stage::chunking, stage::joining}), got.fed_bytes + got.twice_cut_bytes) << name;
      EXPECT_EQ(bytes_of(got, {stage::fingerprinting}), got.fed_bytes + got.twice_hashed_bytes) << name;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
