// Tests of the estimates that Produck routes by.
#include "cluster/simulator/cardinality_sketch.h"

#include <gtest/gtest.h>

#include "tests/cluster/support/random_chunks.h"

namespace cutpoint::tests {
namespace {

using cluster::cardinality_sketch;
using cluster::routed_chunk;
using cluster::sketch_bits;
using cluster::sketch_bits_of;

TEST(cluster_cardinality_sketch, estimates_counts_within_a_few_percent_unless_they_are_small) {
  splitmix64 random(1);
  cardinality_sketch sketch;
  EXPECT_EQ(sketch.count(), 0);
  std::size_t count = 0;
  for (const std::size_t next : {100U, 1'000U, 10'000U, 100'000U, 1'000'000U}) {
    sketch.insert(sketch_bits_of(random_chunks(random, next - count)));
    count = next;
    const double error = count < cardinality_sketch::bitmap_count ? 0.25 : count < 100'000 ? 0.1 : 0.04;
    EXPECT_NEAR(sketch.count(), static_cast<double>(count), error * static_cast<double>(count));
  }
}

TEST(cluster_cardinality_sketch, estimates_how_many_of_a_super_chunk_are_new) {
  splitmix64 random(2);
  cardinality_sketch sketch;
  const auto known = random_chunks(random, 20'000);
  sketch.insert(sketch_bits_of(known));
  EXPECT_EQ(sketch.added_count(sketch_bits_of(std::span<const routed_chunk>(known).subspan(50, 1000))), 0);
  double added = 0;
  for (int i = 0; i < 20; ++i) {  // the mean, as one estimate is off by a fifth
    auto chunks = random_chunks(random, 600);
    chunks.insert(chunks.end(), known.begin() + 20 * i, known.begin() + 20 * i + 400);
    added += sketch.added_count(sketch_bits_of(chunks)) / 20;
  }
  EXPECT_NEAR(added, 600, 60);
}

TEST(cluster_cardinality_sketch, equal_fingerprints_count_once) {
  splitmix64 random(3);
  auto chunks = random_chunks(random, 500);
  const sketch_bits once = sketch_bits_of(chunks);
  chunks.insert(chunks.end(), chunks.begin(), chunks.end());
  EXPECT_EQ(sketch_bits_of(chunks), once);
}

}  // namespace
}  // namespace cutpoint::tests
