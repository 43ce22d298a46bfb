// Tests of runs: they are found exactly, and their chunks are computed as the sequential algorithm makes them.
#include "pipeline/sequence/runs.h"

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"

namespace cutpoint::tests {
namespace {

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
    auto feed = lanes->open({.cuts = cuts, .segment_bytes = 100'000}, out);
    ASSERT_TRUE(feed.ok());
    ASSERT_TRUE(feed->begin(0).ok());
    ASSERT_TRUE(feed->write(stream).ok());
    ASSERT_TRUE(feed->end().ok());
    ASSERT_TRUE(feed->finish().ok());
    EXPECT_EQ(out.streams[0].chunks, cuts.find_cuts(stream));
    EXPECT_EQ(out.streams[0].bytes, stream);
    EXPECT_GT(feed->statistics().run_bytes, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, runs_of_every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

}  // namespace
}  // namespace cutpoint::tests
