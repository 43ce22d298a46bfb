// Tests that every cut depends only on the bytes in reach, and that chunks cover their stream within their limits.
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

class algorithm_restart : public testing::TestWithParam<algorithm_case> {
 protected:
  /// Expects that check(chunker, stream, chunks) finds no fault for random parameters on every kind of content.
  template <class Check>
  void expect_no_fault(std::uint64_t longest_stream, Check&& check) {
    for (int round = 0; round < GetParam().rounds; ++round) {
      for (const content what : all_contents) {
        const chunker chunker = tiny_chunker(GetParam().which, random_);
        const auto stream = make_stream(what, random_.between(0, longest_stream), random_);
        ASSERT_EQ(check(chunker, stream, chunker.find_cuts(stream)), "") << name_of(what);
      }
    }
  }

  seeded_choices random_{GetParam().which + 2001};
};

TEST_P(algorithm_restart, covers_its_stream_within_its_limits) {
  expect_no_fault(2500, [](const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
    return cover_fault(chunker, chunks, stream.size());
  });
}

TEST_P(algorithm_restart, needs_no_byte_out_of_reach) { expect_no_fault(2500, restart_fault); }

TEST_P(algorithm_restart, ignores_every_byte_out_of_reach) {
  expect_no_fault(2500, [this](const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
    return context_fault(chunker, stream, chunks, random_);
  });
}

TEST_P(algorithm_restart, never_cuts_otherwise_when_it_sees_less) {
  expect_no_fault(600, [](const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
    return short_window_fault(chunker, stream, chunks, 1);
  });
}

TEST_P(algorithm_restart, decides_once_it_sees_more_than_the_lookahead) {
  expect_no_fault(2500, [](const chunker& chunker, byte_span stream, std::span<const chunk> chunks) {
    return chunker.is_decided_by_lookahead() ? undecided_fault(chunker, stream, chunks) : std::string();
  });
}

INSTANTIATE_TEST_SUITE_P(few_rounds, algorithm_restart, testing::ValuesIn(algorithm_cases(8)), case_name);
INSTANTIATE_TEST_SUITE_P(full, algorithm_restart, testing::ValuesIn(algorithm_cases(200)), case_name);

class catalog_restart : public testing::TestWithParam<std::string> {};

TEST_P(catalog_restart, covers_its_stream_and_restarts_anywhere_from_the_bytes_in_reach) {
  const chunker cuts = affordable_chunker(GetParam());
  seeded_choices random(5);
  for (const content what : {content::random, content::mixed, content::zeros}) {
    const auto bytes = make_stream(what, 2 * cuts.reach() + 1001, random);
    const auto chunks = cuts.find_cuts(bytes);
    EXPECT_EQ(cover_fault(cuts, chunks, bytes.size()), "") << name_of(what);
    if (what != content::mixed) continue;
    EXPECT_EQ(restart_fault(cuts, bytes, chunks), "");
    EXPECT_EQ(context_fault(cuts, bytes, chunks, random), "");
    EXPECT_EQ(short_window_fault(cuts, bytes, chunks, cuts.reach() / 3), "");
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, catalog_restart, testing::ValuesIn(catalog_names()), catalog_test_name);

TEST(maxp, looks_behind_its_start_when_the_minimum_is_short) {
  const chunker chunker = chunker_of("maxp", "half_window=3,min_bytes=1,avg_bytes=16,max_bytes=0");
  EXPECT_EQ(chunker.behind(), 3u);
  // From byte 1 on, 5 is a local maximum only if the 9 before it is not visible.
  const std::vector<std::uint8_t> bytes = {9, 5, 1, 1, 1, 1, 1, 1};
  const byte_span all = bytes;
  EXPECT_EQ(chunker.next_cut({.bytes = all, .start = 1, .at_end = true}), 7u);
  EXPECT_EQ(chunker.next_cut({.bytes = all.subspan(1), .start = 0, .at_end = true}), 1u);
}

TEST(unlimited_reach, decides_once_the_cut_is_inside_the_window) {
  const chunker chunker = chunker_of("ae-max", "window=4,avg_bytes=8,max_bytes=0");
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(chunker.reach(), unlimited);
  EXPECT_EQ(chunker.next_cut({.bytes = byte_span(bytes).first(6)}), std::nullopt);
  EXPECT_EQ(chunker.next_cut({.bytes = byte_span(bytes).first(6), .at_end = true}), 6u);
  EXPECT_EQ(chunker.next_cut({.bytes = bytes}), 7u);
}

TEST(unlimited_reach, waits_for_the_bytes_of_a_value_of_eight) {
  const chunker chunker = chunker_of("ae-max", "window=1,value_bytes=8,avg_bytes=8,max_bytes=0");
  // The value at 1 is larger than the one at 0, but the first eight bytes do not contain all of it.
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto whole = chunker.next_cut({.bytes = bytes, .at_end = true});
  const auto early = chunker.next_cut({.bytes = byte_span(bytes).first(8)});
  EXPECT_TRUE(!early || early == whole) << *early << " bytes seeing 8, " << *whole << " seeing all";
}

}  // namespace
}  // namespace cutpoint::tests
