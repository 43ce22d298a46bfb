// Streams, forced cuts and removed runs in one sequence.
#include "pipeline/schedule/sequence.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/pipeline/support/exactness.h"
#include "tests/pipeline/support/recorder.h"

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

// What the intake publishes of streams, forced cuts and runs.

class intake_into_ring : public testing::Test {
 protected:
  explicit intake_into_ring(intake_options options = {.shortens_runs = true})
      : intake_(ring_, cuts_, run_periods(cuts_, fingerprinter::make(fingerprint_kind::xxh3).value()), options) {}

  void write(byte_span bytes) {
    std::copy(bytes.begin(), bytes.end(), ring_.at(intake_.cursor()));
    ASSERT_TRUE(intake_.commit(bytes.size()).ok());
  }
  void write_random(std::uint64_t count) { write(make_stream(content::random, count, count)); }

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

// Tests of runs: they are found exactly, and their chunks are computed as the sequential algorithm makes them.

TEST(runs, are_found_as_a_byte_by_byte_search_finds_them) {
  for (std::uint64_t seed = 0; seed < case_count(3000u); ++seed) {
    seeded_choices random(seed);
    const auto bytes = make_stream(random.once_in(2) ? content::runs : content::mixed, random.between(1, 700), random);
    const std::uint64_t least = random.between(2, 200);
    const std::uint64_t begin = random.between(0, bytes.size() - 1);
    std::optional<byte_run> expected;
    for (std::uint64_t first = begin; first < bytes.size() && !expected;) {
      std::uint64_t last = first;
      while (last < bytes.size() && bytes[last] == bytes[first]) ++last;
      if (last - first >= least) expected = byte_run{first, last};
      first = last;
    }
    const auto actual = find_run(bytes, begin, least);
    ASSERT_EQ(actual.has_value(), expected.has_value()) << "seed " << seed;
    if (actual) {
      EXPECT_EQ(actual->first, expected->first);
      EXPECT_EQ(actual->last, expected->last);
    }
  }
}

/// A receiver that adds up lengths, for streams too long to keep.
class adder final : public chunk_receiver {
 public:
  status begin_stream(std::uint64_t) override { return {}; }
  status take(const delivered_chunk& c) override {
    if (c.offset != bytes) is_contiguous = false;
    if (c.count > 1) runs.push_back(c);
    bytes += c.length * c.count;
    chunks += c.count;
    return {};
  }
  status end_stream(std::uint64_t, const status&) override { return {}; }

  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  bool is_contiguous = true;
  std::vector<delivered_chunk> runs;
};

TEST(runs, of_terabytes_of_zeros_take_no_time) {
  const chunker cuts = chunker_of("fastcdc");
  auto threads = engine::make({.threads = 2});
  adder out;
  auto feed = threads->open({.cuts = cuts}, out);
  const std::uint64_t size = (std::uint64_t{1} << 45) + 12'345;
  ASSERT_TRUE(feed->begin(0).ok());
  ASSERT_TRUE(feed->write_zeros(size).ok());
  ASSERT_TRUE(feed->write(std::vector<std::uint8_t>{1, 2, 3}).ok());
  ASSERT_TRUE(feed->end().ok());
  ASSERT_TRUE(feed->finish().ok());
  EXPECT_EQ(out.bytes, size + 3);
  EXPECT_TRUE(out.is_contiguous);
  EXPECT_EQ(out.chunks, (size + 3 + 65'535) / 65'536);
  ASSERT_EQ(out.runs.size(), 1u);
  const std::vector<std::uint8_t> zeros(65'536);
  EXPECT_EQ(out.runs[0].fingerprint, fingerprinter::make(fingerprint_kind::sha256).value()(zeros).value());
  EXPECT_GT(feed->statistics().run_bytes, size - 1 * MiB);
  EXPECT_EQ(feed->statistics().fed_bytes, size + 3);
}

TEST(runs, of_holes_are_counted_in_little_memory) {
  const chunker cuts = chunker_of("fastcdc", "min_bytes=1M,avg_bytes=2M,max_bytes=4M");
  for (const std::uint64_t threads : {1U, 3U}) {
    auto lanes = engine::make({.threads = threads});
    adder out;
    auto feed = lanes->open({.cuts = cuts, .memory_bytes = 6 * MiB}, out);
    const std::uint64_t size = (std::uint64_t{1} << 63) - 1;
    ASSERT_TRUE(feed->begin(0).ok());
    ASSERT_TRUE(feed->write(std::vector<std::uint8_t>(100'000, 7)).ok());
    ASSERT_TRUE(feed->write_zeros(size).ok());
    ASSERT_TRUE(feed->write(std::vector<std::uint8_t>{1, 2, 3}).ok());
    ASSERT_TRUE(feed->end().ok());
    ASSERT_TRUE(feed->finish().ok());
    EXPECT_EQ(out.bytes, size + 100'003);
    EXPECT_TRUE(out.is_contiguous);
    EXPECT_GT(feed->statistics().run_bytes, size - 32 * MiB);
  }
}

TEST(runs, that_are_counted_of_a_stream_that_fails_are_not_those_of_the_next) {
  const chunker cuts = chunker_of("gear", "min_bytes=64,avg_bytes=128,max_bytes=400");
  const run_period period = {.length = 400, .fingerprint = {}};
  const ring ring = value_of(ring::make(64 * KiB));
  intake streams(ring, cuts, run_periods(cuts, value_of(fingerprinter::make(fingerprint_kind::xxh3))),
                 {.counts_zeros = true});
  streams.begin(0);
  ASSERT_EQ(streams.commit_zeros(100, 100).value(), 100u);
  EXPECT_GT(streams.count_zeros(100'000, 90, period), 90'000u);
  streams.end(range_end::failed, {status_code::io_error, "unreadable"});
  streams.begin(1);
  ASSERT_TRUE(streams.commit_zeros(5000, 5000).ok());
  streams.end(range_end::stream, {});
  for (const intake_event& each : streams.take_update().events) EXPECT_NE(each.what, event::run);
}

TEST(runs, past_what_64_bits_count_are_refused) {
  const chunker cuts = chunker_of("fastcdc");
  auto threads = engine::make({.threads = 1});
  adder out;
  auto feed = threads->open({.cuts = cuts}, out);
  const std::uint64_t size = std::uint64_t{1} << 63;
  ASSERT_TRUE(feed->begin(0).ok());
  ASSERT_TRUE(feed->write_zeros(size).ok());
  const status refused = feed->write_zeros(size);
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_NE(refused.message().find("2^64 - 1"), std::string::npos) << refused.message();
  ASSERT_TRUE(feed->write_zeros(size - 1).ok());
  EXPECT_EQ(feed->write(std::vector<std::uint8_t>{1}).code(), status_code::invalid_argument);
  ASSERT_TRUE(feed->end().ok());
  ASSERT_TRUE(feed->finish().ok());
  EXPECT_EQ(out.bytes, 2 * size - 1);
  EXPECT_TRUE(out.is_contiguous);
}

class runs_of_every_name : public testing::TestWithParam<std::string> {};

TEST_P(runs_of_every_name, cuts_runs_as_sequentially) {
  const chunker cuts = chunker_of(GetParam());
  if (cuts.reach() > 256 * KiB) GTEST_SKIP() << "runs of its length are too long for a test";
  seeded_choices random(8700);
  std::vector<std::uint8_t> stream;
  const auto append = [&](content what, std::uint64_t size, std::uint8_t value) {
    const auto block = make_stream(what, size, random);
    for (const std::uint8_t byte : block) stream.push_back(what == content::zeros ? value : byte);
  };
  for (const std::uint8_t value : std::vector<std::uint8_t>{0, 255, 7}) {
    append(content::random, 10'000, 0);
    append(content::zeros, 3 * cuts.reach() + random.between(0, 3 * cuts.reach()), value);
    append(content::random, 1, 0);
    append(content::zeros, 5 * cuts.reach() + 13, value);
  }
  for (const std::uint64_t threads : {1U, 3U}) {
    auto lanes = engine::make({.threads = threads});
    recorder out;
    auto feed = value_of(lanes->open({.cuts = cuts, .segment_bytes = 100'000}, out));
    ASSERT_TRUE(feed_streams(feed, {stream}).ok());
    EXPECT_EQ(out.streams[0].chunks, cuts.find_cuts(stream));
    EXPECT_EQ(out.streams[0].bytes, stream);
    EXPECT_GT(feed.statistics().run_bytes, 0u);
  }
}

/// The memory has no room to shorten runs, so that zeros are counted instead.
TEST_P(runs_of_every_name, counts_holes_in_little_memory) {
  const chunker cuts = chunker_of(GetParam());
  const std::uint64_t reach = cuts.reach();
  if (reach > 256 * KiB) GTEST_SKIP() << "runs of its length are too long for a test";
  std::uint64_t counted_bytes = 0;
  for (std::uint64_t seed = 0; seed < case_count(3u); ++seed) {
    seeded_choices random(seed);
    std::vector<std::uint8_t> stream;
    recorder out;
    auto lanes = engine::make({.threads = random.between(1, 3)});
    auto feed = value_of(lanes->open({.cuts = cuts, .memory_bytes = 2 * (cuts.behind() + reach) + 64 * KiB}, out));
    ASSERT_TRUE(feed.begin(0).ok());
    for (int i = 0; i < 4; ++i) {
      const auto bytes = make_stream(content::random, random.between(i == 0 ? 0 : 1, 2 * reach), random);
      ASSERT_TRUE(feed.write(bytes).ok());
      stream.insert(stream.end(), bytes.begin(), bytes.end());
      const std::uint64_t hole = random.between(1, 12 * reach + 512 * KiB);
      const std::uint64_t first = random.between(0, hole);
      ASSERT_TRUE(feed.write_zeros(first).ok());
      ASSERT_TRUE(feed.write_zeros(hole - first).ok());
      stream.resize(stream.size() + hole);
    }
    ASSERT_TRUE(feed.end().ok());
    ASSERT_TRUE(feed.finish().ok());
    EXPECT_EQ(out.fault, "");
    EXPECT_EQ(out.streams[0].chunks, cuts.find_cuts(stream)) << "seed " << seed;
    EXPECT_EQ(out.streams[0].bytes, stream);
    counted_bytes += feed.statistics().run_bytes;
  }
  EXPECT_GT(counted_bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, runs_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

}  // namespace
}  // namespace cutpoint::tests
