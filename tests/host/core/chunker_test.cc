// Tests the contract of chunkers besides their cuts: copies, threads, empty streams and parameters.
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "tests/host/algorithms/made.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

TEST(chunker, cuts_an_empty_stream_into_nothing) {
  for (const catalog_entry& entry : catalog()) EXPECT_TRUE(entry.defaults.find_cuts({}).empty()) << entry.name;
}

TEST(chunker, cuts_one_byte_into_one_chunk) {
  const std::vector<std::uint8_t> byte = {42};
  for (const catalog_entry& entry : catalog()) {
    EXPECT_EQ(entry.defaults.find_cuts(byte), (std::vector<chunk>{{0, 1}})) << entry.name;
    EXPECT_EQ(entry.defaults.next_cut({.bytes = byte, .at_end = true}), 1u) << entry.name;
    EXPECT_EQ(entry.defaults.next_cut({.bytes = byte}), std::nullopt) << entry.name;
  }
}

TEST(chunker, outlives_what_it_was_copied_from) {
  seeded_choices random(1);
  const auto stream = make_stream(content::random, 5000, random);
  std::optional<chunker> original = made("gear", "avg_bytes=256");
  const auto expected = original->find_cuts(stream);
  const chunker copy = *original;
  original.reset();
  EXPECT_EQ(copy.find_cuts(stream), expected);
  EXPECT_EQ(copy.canonical(), made("gear", "avg_bytes=256").canonical());
}

TEST(chunker, cuts_alike_in_many_threads_at_once) {
  seeded_choices random(2);
  const auto stream = make_stream(content::mixed, 100'000, random);
  for (const catalog_entry& entry : catalog()) {
    const auto expected = entry.defaults.find_cuts(stream);
    std::vector<std::vector<chunk>> found(4);
    std::vector<std::thread> threads;
    for (auto& chunks : found) threads.emplace_back([&] { chunks = entry.defaults.find_cuts(stream); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& chunks : found) EXPECT_EQ(chunks, expected) << entry.name;
  }
}

TEST(chunker, gives_back_its_parameters_with_nothing_left_out) {
  const chunker chunker = *chunker::make(seqcdc_parameters{.avg_bytes = 16 * KiB, .skip_size = 7});
  const seqcdc_parameters expected = {.avg_bytes = 16 * KiB,
                                      .min_bytes = 8 * KiB,
                                      .max_bytes = 32 * KiB,
                                      .seq_length = 5,
                                      .skip_trigger = 40,
                                      .skip_size = 7};
  EXPECT_EQ(std::get<seqcdc_parameters>(chunker.parameters()), expected);
}

TEST(chunker, made_of_its_own_parameters_is_the_same) {
  for (const catalog_entry& entry : catalog()) {
    const chunker again = made(entry.defaults.parameters());
    EXPECT_EQ(again.canonical(), entry.defaults.canonical());
    EXPECT_EQ(again.parameters(), entry.defaults.parameters());
  }
}

struct reach_case {
  std::string_view name;
  std::string_view settings;
  std::uint64_t reach;
  std::uint64_t behind;
};

TEST(chunker, states_reach_and_behind_as_specified) {
  for (const reach_case& c : {
           reach_case{"gear", "", 64 * KiB, 0},
           reach_case{"gear", "max_bytes=0", unlimited, 0},
           reach_case{"tttd", "max_bytes=8K", 8 * KiB, 0},
           reach_case{"ae-max", "", 64 * KiB, 0},
           reach_case{"ae-max", "value_bytes=8", 64 * KiB + 7, 0},
           reach_case{"ae-min", "value_bytes=8,max_bytes=0", unlimited, 0},
           reach_case{"ram", "", 16 * KiB, 0},
           reach_case{"seqcdc-dec", "", 16 * KiB, 0},
           reach_case{"maxp", "", 64 * KiB + 885, 1},
           reach_case{"maxp", "min_bytes=2K", 64 * KiB + 885, 0},
           reach_case{"maxp", "half_window=100,min_bytes=1", 64 * KiB + 100, 100},
           reach_case{"repmaxcdc", "min_bytes=1000,horizon=500", 2500, 0},
           reach_case{"fixed", "", 8 * KiB, 0},
           reach_case{"borg1", "", 8 * MiB, 0},
       }) {
    EXPECT_EQ(made(c.name, c.settings).reach(), c.reach) << c.name << " " << c.settings;
    EXPECT_EQ(made(c.name, c.settings).behind(), c.behind) << c.name << " " << c.settings;
  }
}

TEST(chunker, states_lookahead_past_a_cut) {
  EXPECT_EQ(made("gear").lookahead(), 0u);
  EXPECT_EQ(made("ae-max").lookahead(), 0u);
  EXPECT_EQ(made("ae-max", "value_bytes=8").lookahead(), 7u);
  EXPECT_EQ(made("maxp").lookahead(), 885u);
}

}  // namespace
}  // namespace cutpoint::tests
