// Tests the contract of chunkers besides their cuts: copies, threads, empty streams, and what it says of its cuts.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

TEST(chunker, cuts_an_empty_stream_into_nothing_and_one_byte_into_one_chunk) {
  const std::vector<std::uint8_t> byte = {42};
  for (const catalog_entry& entry : catalog()) {
    EXPECT_TRUE(entry.defaults.find_cuts({}).empty()) << entry.name;
    EXPECT_EQ(entry.defaults.find_cuts(byte), (std::vector<chunk>{{0, 1}})) << entry.name;
    EXPECT_EQ(entry.defaults.next_cut({.bytes = byte, .at_end = true}), 1u) << entry.name;
    EXPECT_EQ(entry.defaults.next_cut({.bytes = byte}), std::nullopt) << entry.name;
  }
}

TEST(chunker, outlives_what_it_was_copied_from) {
  seeded_choices random(1);
  const auto stream = make_stream(content::random, 5000, random);
  std::optional<chunker> original = chunker_of("gear", "avg_bytes=256");
  const auto expected = original->find_cuts(stream);
  const chunker copy = *original;
  original.reset();
  EXPECT_EQ(copy.find_cuts(stream), expected);
  EXPECT_EQ(copy.canonical(), chunker_of("gear", "avg_bytes=256").canonical());
}

TEST(chunker, cuts_alike_in_many_threads_at_once) {
  seeded_choices random(2);
  const auto stream = make_stream(content::mixed, 100'000, random);
  for (const catalog_entry& entry : catalog()) {
    const auto expected = entry.defaults.find_cuts(stream);
    std::vector<std::vector<chunk>> results(4);
    std::vector<std::thread> threads;
    for (auto& chunks : results) threads.emplace_back([&] { chunks = entry.defaults.find_cuts(stream); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& chunks : results) EXPECT_EQ(chunks, expected) << entry.name;
  }
}

struct reach_case {
  std::string_view name;
  std::string_view settings;
  std::uint64_t reach;
  std::uint64_t behind;
  std::uint64_t lookahead = 0;
};

TEST(chunker, states_the_bytes_that_decide_a_cut) {
  for (const reach_case& c : {
           reach_case{"gear", "", 64 * KiB, 0},
           reach_case{"gear", "max_bytes=0", unlimited, 0},
           reach_case{"tttd", "max_bytes=8K", 8 * KiB, 0},
           reach_case{"ae-max", "", 64 * KiB, 0},
           reach_case{"ae-max", "value_bytes=8", 64 * KiB + 7, 0, 7},
           reach_case{"ae-min", "value_bytes=8,max_bytes=0", unlimited, 0, 7},
           reach_case{"ram", "", 16 * KiB, 0},
           reach_case{"seqcdc-dec", "", 16 * KiB, 0},
           reach_case{"maxp", "", 64 * KiB + 885, 1, 885},
           reach_case{"maxp", "min_bytes=2K", 64 * KiB + 885, 0, 885},
           reach_case{"maxp", "half_window=100,min_bytes=1", 64 * KiB + 100, 100, 100},
           reach_case{"repmaxcdc", "min_bytes=1000,horizon=500", 2500, 0},
           reach_case{"mincdc4", "", 12 * KiB, 0},
           reach_case{"mincdchash4", "min_bytes=0,avg_bytes=1", 2, 0},
           reach_case{"fixed", "", 8 * KiB, 0},
           reach_case{"borg1", "", 8 * MiB, 0, 4095},
       }) {
    SCOPED_TRACE(c.name);
    const chunker cuts = chunker_of(c.name, c.settings);
    EXPECT_EQ(cuts.reach(), c.reach) << c.settings;
    EXPECT_EQ(cuts.behind(), c.behind) << c.settings;
    EXPECT_EQ(cuts.lookahead(), c.lookahead) << c.settings;
  }
}

TEST(chunker, says_which_cuts_the_lookahead_does_not_decide) {
  const std::set<std::string_view> decided_at_reach = {"tttd", "repmaxcdc", "mincdc4", "mincdchash4"};
  for (const catalog_entry& entry : catalog()) {
    EXPECT_NE(entry.defaults.is_decided_by_lookahead(), decided_at_reach.contains(entry.name)) << entry.name;
    EXPECT_EQ(entry.defaults.fixed_chunk_bytes().has_value(), entry.name == "fixed") << entry.name;
  }
  EXPECT_TRUE(chunker_of("tttd", "max_bytes=0").is_decided_by_lookahead());
}

TEST(chunker, expected_length_is_known_where_the_model_holds) {
  // PRUNE table 2: E[S] in KiB for 11 to 13 bits, between 2 KiB and 64 KiB.
  const std::vector<std::pair<std::string, double>> expected = {{"2K", 4.0}, {"4K", 6.0}, {"8K", 10.0}};
  for (const auto& [divisor, kibibytes] : expected) {
    const std::string settings = "min_bytes=2K,avg_bytes=" + divisor + ",max_bytes=64K";
    EXPECT_NEAR(chunker_of("rabin-inck", settings).expected_chunk_bytes().value() / 1024, kibibytes, 0.05) << divisor;
  }
  EXPECT_DOUBLE_EQ(*chunker_of("gear", "min_bytes=64,avg_bytes=1024,max_bytes=0").expected_chunk_bytes(), 64 + 1024);
  EXPECT_DOUBLE_EQ(*chunker_of("gear", "min_bytes=1024,avg_bytes=1024,max_bytes=1024").expected_chunk_bytes(), 1024);
  for (const char* name :
       {"fastcdc", "tttd", "ae-max", "ram", "maxp", "seqcdc-inc", "mincdchash4", "fixed", "ronomon"}) {
    EXPECT_FALSE(chunker_of(name).expected_chunk_bytes()) << name;
  }
}

TEST(chunker, expected_length_is_the_mean_of_random_streams) {
  seeded_choices random(77);
  const auto stream = make_stream(content::random, 24 * MiB, random);
  const std::vector<std::pair<std::string, std::string>> cuts = {
      {"gear", "min_bytes=256,avg_bytes=1024,max_bytes=2048"},
      {"rabin", "min_bytes=256,avg_bytes=1024,max_bytes=8192"},
      {"rabin-inck", "min_bytes=64,avg_bytes=512,max_bytes=0"},
      {"adler", "min_bytes=256,avg_bytes=1024,max_bytes=2048"},
      {"crc32", "min_bytes=256,avg_bytes=1024,max_bytes=2048"},
      {"buzhash", "min_bytes=256,avg_bytes=1024,max_bytes=2048"},
      {"casync", "min_bytes=512,avg_bytes=1024,max_bytes=8192"},
      {"pbs", "min_bytes=256,avg_bytes=1024,max_bytes=8192"},
  };
  for (const auto& [name, parameters] : cuts) {
    const chunker made_cuts = chunker_of(name, parameters);
    const auto expected = made_cuts.expected_chunk_bytes();
    ASSERT_TRUE(expected) << name;
    const double mean = static_cast<double>(stream.size()) / static_cast<double>(made_cuts.find_cuts(stream).size());
    EXPECT_NEAR(*expected, mean, mean / 50) << name;
  }
}

}  // namespace
}  // namespace cutpoint::tests
