// PRUNE's table answers as a set does, whatever manages its list, and looks at tablets in the order of the paper.
#include "bench/tablets/tablet_index.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/common/usual_data.h"
#include "host/core/splitmix.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::bench {
namespace {

using testing::ElementsAre;
using tests::temporary_folder;

digest numbered(std::uint64_t number) { return synthetic_digest(number, 20); }

std::vector<digest> numbered(std::uint64_t first, std::uint64_t count) {
  std::vector<digest> digests;
  for (std::uint64_t i = 0; i < count; ++i) digests.push_back(numbered(first + i));
  return digests;
}

std::uint64_t new_ones(tablet_index& index, const std::vector<digest>& digests) {
  std::vector<index_answer> answers(digests.size());
  const status inserted = index.insert(digests, answers);
  EXPECT_TRUE(inserted.ok()) << inserted.message();
  return static_cast<std::uint64_t>(std::ranges::count(answers, index_answer::absent));
}

class tablets : public testing::TestWithParam<tablet_order> {
 protected:
  [[nodiscard]] tablet_options options() {
    const std::string folder = folder_ / ("index" + std::to_string(++folders_));
    std::filesystem::create_directory(folder);
    return {.folder = folder,
            .order = GetParam(),
            .tablet_bytes = 64 * 1024,
            .filter_bits = 1 << 18,
            .filter_functions = 4};
  }
  const temporary_folder folder_;
  int folders_ = 0;
};

TEST_P(tablets, answer_as_a_set_does) {
  for (const std::size_t most_open : {0u, 1u, 3u}) {
    auto settings = options();
    settings.most_open = most_open;
    tablet_index index(settings);
    std::set<std::uint64_t> expected;
    splitmix64 random(most_open);
    for (int round = 0; round < (most_open == 0 ? 60 : 12); ++round) {  // each change of files waits for the disk
      std::vector<digest> digests;
      std::vector<index_answer> wanted;
      const std::uint64_t first = random.next() % 12'000;
      const std::uint64_t count = random.next() % 600 + 200;
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t number = random.next() % 4 == 0 ? random.next() % 20'000 : first + i;
        digests.push_back(numbered(number));
        wanted.push_back(expected.contains(number) ? index_answer::present : index_answer::absent);
        if (round % 3 != 0) expected.insert(number);
      }
      std::vector<index_answer> answers(digests.size());
      const status done = round % 3 != 0 ? index.insert(digests, answers) : index.look_up(digests, answers);
      ASSERT_TRUE(done.ok()) << done.message();
      ASSERT_EQ(answers, wanted) << "round " << round;
      ASSERT_EQ(index.size(), expected.size());
      if (round % 6 != 5) continue;
      ASSERT_TRUE(index.close().ok());
    }
    const tablet_counts& counts = index.counts();
    EXPECT_EQ(counts.lookups, counts.filtered + counts.hits + counts.false_positives);
    EXPECT_GE(counts.pages, counts.examined);
    EXPECT_EQ(index.tablet_count() == 1, GetParam() == tablet_order::single);
    EXPECT_LE(index.used_bytes(), index.file_bytes());
  }
}

TEST_P(tablets, are_full_at_their_size) {
  auto settings = options();
  tablet_index index(settings);
  ASSERT_EQ(new_ones(index, numbered(0, 20'000)), 20'000u);
  if (GetParam() == tablet_order::single) return;
  EXPECT_GT(index.tablet_count(), 10u);
  EXPECT_LE(index.used_bytes(), index.tablet_count() * (settings.tablet_bytes + 4096));
  EXPECT_GT(index.used_bytes(), (index.tablet_count() - 1) * (settings.tablet_bytes - 4096));
}

TEST_P(tablets, are_loaded_from_their_files) {
  const auto settings = options();
  {
    tablet_index index(settings);
    ASSERT_EQ(new_ones(index, numbered(0, 9'000)), 9'000u);
    ASSERT_TRUE(index.close().ok());
  }
  tablet_index again(settings);
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(again.size(), 9'000u);
  EXPECT_EQ(new_ones(again, numbered(4'000, 9'000)), 4'000u);
  EXPECT_EQ(again.size(), 13'000u);
}

TEST_P(tablets, name_the_file_that_fails) {
  auto settings = options();
  settings.folder += "/missing";
  tablet_index index(settings);
  const auto digests = numbered(0, 1);
  std::vector<index_answer> answers(1);
  const status failed = index.insert(digests, answers);
  EXPECT_EQ(failed.code(), status_code::io_error);
  EXPECT_NE(failed.message().find("missing/tablet-000000: No such file"), std::string::npos) << failed.message();
}

INSTANTIATE_TEST_SUITE_P(by, tablets,
                         testing::Values(tablet_order::single, tablet_order::linear, tablet_order::lru,
                                         tablet_order::lru_list, tablet_order::lru_creation),
                         [](const auto& tested) {
                           std::string name(name_of(tested.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Six tablets, as figure 8 draws them from 1 on, of which number n has the digests from 1000 n on.
class six_tablets : public testing::Test {
 protected:
  tablet_index make(tablet_order order) {
    const std::string folder = folder_ / std::string(name_of(order));
    std::filesystem::create_directory(folder);
    tablet_index index({.folder = folder, .order = order, .tablet_bytes = 16 * 1024});
    for (std::uint64_t i = 0; i < 6; ++i) {
      for (std::uint64_t next = 1000 * i; index.tablet_count() <= i + 1; ++next) {
        if (i == 5 && next == 1000 * i + 20) break;
        EXPECT_EQ(new_ones(index, numbered(next, 1)), 1u);
        if (index.tablet_count() == i + 2) break;
      }
    }
    return index;
  }
  static std::uint64_t examined(tablet_index& index, std::uint64_t number) {
    const std::uint64_t before = index.counts().examined;
    EXPECT_EQ(new_ones(index, {numbered(number)}), 0u);
    return index.counts().examined - before;
  }
  const temporary_folder folder_;
};

TEST_F(six_tablets, linear_ones_stay) {
  tablet_index index = make(tablet_order::linear);
  EXPECT_THAT(index.order(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(examined(index, 3010), 4u);
  EXPECT_EQ(examined(index, 3011), 4u);
  EXPECT_THAT(index.order(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(six_tablets, lru_moves_a_hit_to_the_head) {
  tablet_index index = make(tablet_order::lru);
  EXPECT_THAT(index.order(), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_EQ(examined(index, 2010), 4u);
  EXPECT_THAT(index.order(), ElementsAre(2, 5, 4, 3, 1, 0));
  EXPECT_EQ(examined(index, 2011), 1u);
  EXPECT_EQ(examined(index, 3010), 4u);
  EXPECT_THAT(index.order(), ElementsAre(3, 2, 5, 4, 1, 0));
}

TEST_F(six_tablets, prefetching_moves_the_next_of_the_list) {
  tablet_index index = make(tablet_order::lru_list);
  EXPECT_EQ(examined(index, 3010), 3u);
  EXPECT_THAT(index.order(), ElementsAre(3, 2, 5, 4, 1, 0));
  EXPECT_EQ(examined(index, 2010), 2u) << "it was moved";
  EXPECT_THAT(index.order(), ElementsAre(2, 5, 3, 4, 1, 0));
  EXPECT_EQ(examined(index, 10), 6u);
  EXPECT_THAT(index.order(), ElementsAre(0, 2, 5, 3, 4, 1)) << "the last one has no successor";
}

TEST_F(six_tablets, prefetching_moves_the_one_created_next) {
  tablet_index index = make(tablet_order::lru_creation);
  EXPECT_EQ(examined(index, 10), 6u);
  EXPECT_THAT(index.order(), ElementsAre(0, 1, 5, 4, 3, 2));
  EXPECT_EQ(examined(index, 1010), 2u);
  EXPECT_THAT(index.order(), ElementsAre(1, 2, 0, 5, 4, 3));
  EXPECT_EQ(examined(index, 5010), 4u);
  EXPECT_THAT(index.order(), ElementsAre(5, 1, 2, 0, 4, 3)) << "nothing was created after it";
}

/// Returns how far a disk's head moves over tables that lie one after the other, each sorted, to look digests up one by one.
std::uint64_t seek_distance(const std::vector<std::vector<digest>>& tables, const std::vector<digest>& lookups) {
  const temporary_folder folder;
  std::vector<digest> places;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tablet table(folder / ("tablet" + std::to_string(i)), 1 << 20);
    for (const digest& each : tables[i]) EXPECT_TRUE(table.insert(each).ok());
    EXPECT_TRUE(table.finish().ok());
    EXPECT_TRUE(table.visit([&](const digest& each) { places.push_back(each); }).ok());
  }
  std::uint64_t distance = 0;
  for (std::size_t i = 1; i < lookups.size(); ++i) {
    const auto last = std::ranges::find(places, lookups[i - 1]);
    distance += static_cast<std::uint64_t>(std::abs(std::ranges::find(places, lookups[i]) - last));
  }
  return distance;
}

TEST(seeks, are_as_many_as_in_figure_7) {
  // The paper's text has the sums 20 and 8 of its figure, and not its fingerprints. These give the same sums.
  std::vector<digest> chunks;
  for (const std::uint8_t fingerprint : std::initializer_list<std::uint8_t>{1, 5, 4, 2, 9, 3, 6, 7, 8, 10}) {
    chunks.emplace_back().size = 1;
    chunks.back().bytes[0] = fingerprint;
  }
  const auto range = [&](std::size_t begin, std::size_t end) {
    return std::vector(chunks.begin() + static_cast<std::ptrdiff_t>(begin),
                       chunks.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const std::vector<digest> lookups = range(0, 6);
  EXPECT_EQ(seek_distance({chunks}, lookups), 20u);
  EXPECT_EQ(seek_distance({range(0, 3), range(3, 6), range(6, 9), range(9, 10)}, lookups), 8u);
}

TEST(bloom, has_no_false_negatives_and_as_many_false_positives_as_equation_1_says) {
  constexpr std::uint64_t digests = 20'000;
  for (const std::uint64_t bits_each : {4u, 8u, 16u}) {
    const std::uint64_t bits = bits_each * digests;
    const unsigned functions = bloom_filter::best_functions(bits, digests);
    EXPECT_NEAR(functions, 0.7 * static_cast<double>(bits_each), 0.6);
    bloom_filter filter(bits, functions);
    for (std::uint64_t i = 0; i < digests; ++i) filter.add(numbered(i));
    for (std::uint64_t i = 0; i < digests; ++i) ASSERT_TRUE(filter.may_have(numbered(i)));
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) wrong += filter.may_have(numbered(digests + i));
    const double expected = 100'000 * bloom_filter::false_positives(bits, functions, digests);
    EXPECT_NEAR(static_cast<double>(wrong), expected, 5 * std::sqrt(expected) + 3) << bits_each;
  }
  EXPECT_TRUE(bloom_filter(0, 1).may_have(numbered(1)));
}

}  // namespace
}  // namespace cutpoint::bench
