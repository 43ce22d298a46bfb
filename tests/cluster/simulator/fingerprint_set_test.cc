// Tests of the set of fingerprints: it has what a std::set has, in 16 bytes each.
#include "cluster/simulator/fingerprint_set.h"

#include <set>

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

TEST(cluster_fingerprint_set, has_what_a_standard_set_has) {
  splitmix64 random(1);
  cluster::fingerprint_set fingerprints;
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t fingerprint = random.next() % 9'000;  // 0 among them, which marks empty slots
    EXPECT_EQ(fingerprints.contains(fingerprint), expected.contains(fingerprint));
    EXPECT_EQ(fingerprints.insert(fingerprint), expected.insert(fingerprint).second);
    ASSERT_EQ(fingerprints.size(), expected.size());
  }
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_EQ(fingerprints.contains(i), expected.contains(i));
}

TEST(cluster_fingerprint_set, takes_at_most_16_bytes_for_a_fingerprint) {
  splitmix64 random(2);
  cluster::fingerprint_set fingerprints;
  for (int i = 0; i < 300'000; ++i) {
    fingerprints.insert(random.next());
    ASSERT_TRUE(i < 8 || fingerprints.memory_bytes() <= 16 * fingerprints.size()) << i;
  }
}

}  // namespace
}  // namespace cutpoint::tests
