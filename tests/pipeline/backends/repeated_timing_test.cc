// Tests of repeated timing: the turns, the choice of the fastest, and the part of the sample that each turn reads.
#include "pipeline/backends/repeated_timing.h"

#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

TEST(seconds_per_byte, counts_the_bytes_that_were_done) {
  std::vector<std::uint64_t> begins;
  const double cost = seconds_per_byte({.sample_bytes = 100, .turns = 2, .turn_seconds = 60}, [&](std::uint64_t begin) {
    begins.push_back(begin);
    return begin + 50;
  });
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{0, 50, 0, 50}));
  EXPECT_GE(cost, 0);
  EXPECT_LT(cost, 1);
}

TEST(find_fastest, gives_all_turns_although_others_use_the_processor) {
  std::array<int, 2> turns = {};
  find_fastest(2, 1, [&](std::size_t i, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // as if another program ran meanwhile
    ++turns[i];
    return 1.0;
  });
  EXPECT_EQ(turns, (std::array<int, 2>{7, 7}));
}

TEST(find_fastest, adds_up_the_parts) {
  const double costs[3][2] = {{1, 5}, {2, 2}, {5, 1}};
  EXPECT_EQ(find_fastest(3, 2, [&](std::size_t i, std::size_t round) { return costs[i][round]; }), 1u);
}

TEST(find_fastest, chooses_the_last_of_those_that_are_about_equal) {
  const double costs[4] = {1.02, 1.00, 1.02, 1.08};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return costs[i]; }), 2u);
}

TEST(find_fastest, is_not_misled_by_turns_that_other_work_made_longer) {
  seeded_choices random(1);
  const auto disturbed = [&](std::size_t i, std::size_t) { return (i == 1 ? 1 : 1.2) * (random.once_in(4) ? 1.4 : 1); };
  for (int round = 0; round < 100; ++round) EXPECT_EQ(find_fastest(3, 2, disturbed), 1u);
}

TEST(find_fastest, gives_no_more_turns_to_the_slow) {
  std::vector<int> turns(4);
  const double costs[4] = {9, 1, 1.4, 1};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return ++turns[i], costs[i]; }), 3u);
  EXPECT_EQ(turns[0], 2);
  EXPECT_EQ(turns[2], 3);
  EXPECT_EQ(turns[1], turns[3]);
  EXPECT_GT(turns[3], 3);
}

TEST(find_fastest, measures_nothing_if_there_is_no_choice) {
  EXPECT_EQ(find_fastest(1, 2, [](std::size_t, std::size_t) -> double { throw std::logic_error("a turn"); }), 0u);
}

}  // namespace
}  // namespace cutpoint::tests
