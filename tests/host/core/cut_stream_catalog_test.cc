// Tests that the sequential cutter gives the cuts of the whole stream, whatever sizes the source reads and however
// little memory is allowed.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/core/read_sizes.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

void expect_cuts(source& source, const chunker& chunker, byte_span stream, const std::vector<chunk>& expected,
                 stream_limits limits) {
  SCOPED_TRACE(chunker.canonical());
  const cut_outcome cut = cut_all(source, chunker, stream, limits);
  ASSERT_TRUE(cut.outcome.ok()) << cut.outcome.message();
  EXPECT_EQ(cut.chunks, expected);
  EXPECT_TRUE(cut.are_bytes_right);
}

class every_name : public testing::TestWithParam<std::string> {};

TEST_P(every_name, cuts_a_stream_as_a_whole) {
  const chunker chunker = affordable_chunker(GetParam());
  seeded_choices random(7001);
  const auto stream = make_stream(content::mixed, chunker.reach() + chunker.reach() / 4 + 400'001, random);
  const auto expected = chunker.find_cuts(stream);
  const std::uint64_t least = least_memory(chunker);
  for (const std::uint64_t memory : {least, least + 4099, 256 * MiB}) {
    piecewise_source source(stream, random_sizes(memory));
    expect_cuts(source, chunker, stream, expected, {.memory_bytes = memory});
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, every_name, testing::ValuesIn(catalog_names()), catalog_test_name);

class every_algorithm : public testing::TestWithParam<algorithm_case> {};

TEST_P(every_algorithm, cuts_every_content_alike_in_pieces_of_any_size) {
  seeded_choices random(GetParam().which + 7101);
  for (int round = 0; round < GetParam().rounds; ++round) {
    for (const content what : all_contents) {
      const chunker chunker = tiny_chunker(GetParam().which, random);
      const auto stream = make_stream(what, random.between(0, 3000), random);
      const auto expected = chunker.find_cuts(stream);
      const std::uint64_t least = least_memory(chunker) + (chunker.reach() == unlimited ? stream.size() : 0);
      for (const read_sizes& sizes : {always(1), always(2), primes(), random_sizes(random.word()), whole()}) {
        piecewise_source source(stream, sizes);
        expect_cuts(source, chunker, stream, expected, {.memory_bytes = least + random.between(0, 5)});
        EXPECT_EQ(source.end_count(), 1u) << "read again after its end, where a terminal would wait";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(few_rounds, every_algorithm, testing::ValuesIn(algorithm_cases(4)), case_name);

TEST(cut_stream, looks_behind_a_chunk_as_far_as_the_algorithm_does) {
  seeded_choices random(7201);
  for (const std::string_view settings : {"half_window=100,min_bytes=1,avg_bytes=128,max_bytes=150",
                                          "half_window=64,min_bytes=3,avg_bytes=64,max_bytes=0",
                                          "half_window=1000,min_bytes=0,avg_bytes=8192,max_bytes=8192"}) {
    const chunker chunker = chunker_of("maxp", settings);
    ASSERT_GT(chunker.behind(), 0u);
    for (const content what : {content::random, content::ramp_down, content::cycle_251, content::mixed}) {
      const auto stream = make_stream(what, 40'000, random);
      const auto expected = chunker.find_cuts(stream);
      const std::uint64_t spare = chunker.reach() == unlimited ? stream.size() : 0;
      for (const read_sizes& sizes : {always(1), primes(), whole()}) {
        piecewise_source source(stream, sizes);
        expect_cuts(source, chunker, stream, expected, {.memory_bytes = least_memory(chunker) + spare});
      }
    }
  }
}

TEST(cut_stream, of_an_empty_stream_has_no_chunk) {
  memory_source source({});
  const cut_outcome cut = cut_all(source, chunker_of("gear"), {});
  EXPECT_TRUE(cut.outcome.ok());
  EXPECT_TRUE(cut.chunks.empty());
}

TEST(cut_stream, of_one_byte_has_one_chunk) {
  const std::vector<std::uint8_t> stream = {42};
  for (const std::string& name : catalog_names()) {
    memory_source source(stream);
    EXPECT_EQ(cut_all(source, chunker_of(name), stream).chunks, (std::vector<chunk>{{0, 1}})) << name;
  }
}

/// A stream of a given length that never writes its bytes; `fixed` does not read them.
class blank_source final : public source {
 public:
  explicit blank_source(std::uint64_t size) : rest_(size) {}
  result<std::size_t> read(std::span<std::uint8_t> destination) override {
    const std::uint64_t count = std::min<std::uint64_t>(rest_, destination.size());
    rest_ -= count;
    return count;
  }

 private:
  std::uint64_t rest_;
};

TEST(cut_stream, counts_offsets_past_four_gibibytes) {
  const std::uint64_t size = 4 * GiB + 12'345;
  const std::uint64_t length = 16 * MiB;
  blank_source source(size);
  std::uint64_t reached = 0;
  const status outcome =
      cut_stream(source, chunker_of("fixed", "avg_bytes=16M"), {}, [&](const chunk& where, byte_span) -> status {
        EXPECT_EQ(where, (chunk{reached, std::min(length, size - reached)}));
        reached += where.length;
        return {};
      });
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(reached, size);
}

}  // namespace
}  // namespace cutpoint::tests
