// The phases of figure 1: each algorithm has the phases that it consists of, and no other.
#include "bench/papers/phases.h"

#include <cutpoint/speed.h>
#include <gtest/gtest.h>

namespace cutpoint::bench {

namespace {

TEST(phases, are_those_of_the_algorithm) {
  const aligned_bytes data = aligned_bytes::random(4 * MiB);
  const std::vector<phase_seconds> all = measure_phases(data.view(), 1);
  ASSERT_EQ(all.size(), 7U);
  for (const phase_seconds& each : all) {
    const bool has_hash = each.name != "RAM" && each.name != "AE" && each.name != "SEQ";
    EXPECT_EQ(each.rolling_hash > 0, has_hash) << each.name;
    EXPECT_EQ(each.extreme_search > 0, each.name == "RAM" || each.name == "AE") << each.name;
    EXPECT_GE(each.boundary_test, 0) << each.name;
    EXPECT_TRUE(each.range_scan == 0 || each.name == "RAM") << each.name;
    EXPECT_GT(each.fingerprint, 0) << each.name;
    EXPECT_LT(each.rolling_hash + each.boundary_test + each.extreme_search, 10) << each.name << ", seconds for 4 MiB";
  }
}

}  // namespace

}  // namespace cutpoint::bench
