// Tests of handprints and of the two formulas about them.
#include "cluster/similarity/handprint.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "tests/cluster/support/random_chunks.h"

namespace cutpoint::tests {
namespace {

using cluster::append_handprint;
using cluster::routed_chunk;

std::vector<std::uint64_t> sorted_fingerprints(const std::vector<routed_chunk>& chunks) {
  std::set<std::uint64_t> fingerprints;
  for (const routed_chunk& each : chunks) fingerprints.insert(each.fingerprint);
  return {fingerprints.begin(), fingerprints.end()};
}

TEST(cluster_handprint, is_the_smallest_different_fingerprints_in_order) {
  splitmix64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto chunks = random_chunks(random, random.next() % 60, round % 2 == 0 ? 0 : 12);
    const std::size_t size = 1 + random.next() % 20;
    std::vector<std::uint64_t> expected = {7, 5};  // what was there before stays
    const auto all = sorted_fingerprints(chunks);
    expected.insert(expected.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(size, all.size())));
    std::vector<std::uint64_t> handprint = {7, 5};
    append_handprint(chunks, size, handprint);
    ASSERT_EQ(handprint, expected);
  }
}

TEST(cluster_handprint, larger_than_the_super_chunk_has_all_fingerprints) {
  splitmix64 random(2);
  const auto chunks = random_chunks(random, 5);
  std::vector<std::uint64_t> handprint;
  append_handprint(chunks, 64, handprint);
  EXPECT_EQ(handprint, sorted_fingerprints(chunks));
}

TEST(cluster_handprint, resemblance_is_the_jaccard_index) {
  const std::vector<std::uint64_t> first = {1, 2, 3, 4};
  const std::vector<std::uint64_t> second = {3, 4, 5, 6, 7};
  EXPECT_DOUBLE_EQ(cluster::resemblance(first, second), 2.0 / 7);
  EXPECT_DOUBLE_EQ(cluster::resemblance(first, first), 1);
  EXPECT_DOUBLE_EQ(cluster::resemblance(first, {}), 0);
  EXPECT_DOUBLE_EQ(cluster::resemblance({}, {}), 1);
}

TEST(cluster_handprint, accuracy_is_the_binomial_sum_of_equation_6) {
  EXPECT_NEAR(cluster::estimate_accuracy(8, 0.5, 0.125), 182.0 / 256, 1e-12);
  EXPECT_NEAR(cluster::estimate_accuracy(8, 0.3, 1), 1, 1e-12);
  EXPECT_NEAR(cluster::estimate_accuracy(1, 0.3, 0.4), 0.7, 1e-12);  // no common fingerprint, or one
  EXPECT_NEAR(cluster::estimate_accuracy(4, 0, 0.1), 1, 1e-12);
}

/// Returns the share of pairs with this resemblance whose handprints estimate it to within `error`.
double measured_accuracy(std::size_t size, double real_resemblance, double error) {
  constexpr std::size_t chunk_count = 256;
  constexpr int pair_count = 3000;
  const auto common_count =
      static_cast<std::size_t>(std::lround(2 * chunk_count * real_resemblance / (1 + real_resemblance)));
  splitmix64 random(size);
  int accurate = 0;
  for (int pair = 0; pair < pair_count; ++pair) {
    auto first = random_chunks(random, chunk_count);
    auto second = random_chunks(random, chunk_count);
    std::copy_n(first.begin(), common_count, second.begin());
    std::vector<std::uint64_t> first_handprint;
    std::vector<std::uint64_t> second_handprint;
    append_handprint(first, size, first_handprint);
    append_handprint(second, size, second_handprint);
    const double real = cluster::resemblance(sorted_fingerprints(first), sorted_fingerprints(second));
    accurate += std::abs(cluster::resemblance(first_handprint, second_handprint) - real) <= error ? 1 : 0;
  }
  return static_cast<double>(accurate) / pair_count;
}

TEST(cluster_handprint, measured_accuracy_grows_as_equation_6_says) {
  for (const double real : {0.2, 0.5, 0.8}) {
    double previous = -1;
    for (const std::size_t size : {4U, 16U, 64U}) {
      const double measured = measured_accuracy(size, real, 0.15);
      RecordProperty(std::to_string(real) + " " + std::to_string(size), std::to_string(measured));
      // Equation 5 has few values for a small handprint, so that none may lie within the error; equation 6 ignores that.
      if (size > 4) {
        EXPECT_NEAR(measured, cluster::estimate_accuracy(size, real, 0.15), 0.1) << real << ' ' << size;
      }
      EXPECT_GT(measured, previous);
      previous = measured;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
