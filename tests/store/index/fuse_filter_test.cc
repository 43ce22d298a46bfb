// A fuse filter has every key, few others, and about the size that its paper gives.
#include <gtest/gtest.h>

#include "store/index/shard.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

std::vector<std::uint64_t> drawn_keys(std::size_t count, std::uint64_t seed) {
  splitmix64 words(seed);
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t& each : keys) each = words.next() >> 16;
  return keys;
}

TEST(fuse_filter, has_every_key_and_few_others) {
  for (const std::size_t count : {1u, 2u, 3u, 4u, 7u, 10u, 33u, 100u, 1000u, 10'000u, 200'000u}) {
    const auto keys = drawn_keys(count, count);
    store::fuse_filter_shape shape = store::fuse_filter_shape_for(count);
    const auto fingerprints = store::build_fuse_filter(keys, shape);
    ASSERT_TRUE(fingerprints) << count;
    ASSERT_EQ(fingerprints->size(), shape.fingerprint_count());
    const store::fuse_filter filter(shape, fingerprints->data());
    for (const std::uint64_t key : keys) ASSERT_TRUE(filter.may_contain(key)) << count;
    std::size_t wrong = 0;
    constexpr std::size_t others = 100'000;
    for (const std::uint64_t key : drawn_keys(others, count + 1)) wrong += filter.may_contain(key);
    EXPECT_NEAR(static_cast<double>(wrong) / others, 1.0 / 256, 1.0 / 1000) << count;
    if (count >= 100'000) {
      EXPECT_LT(static_cast<double>(fingerprints->size()), 1.2 * static_cast<double>(count));
    }
  }
}

TEST(fuse_filter, is_built_for_sequential_and_many_sizes) {
  for (std::size_t count = 1; count < case_count(600u); ++count) {
    std::vector<std::uint64_t> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = i << 20;
    store::fuse_filter_shape shape = store::fuse_filter_shape_for(count);
    const auto fingerprints = store::build_fuse_filter(keys, shape);
    ASSERT_TRUE(fingerprints) << count;
    for (const std::uint64_t key : keys) {
      ASSERT_TRUE(store::fuse_filter(shape, fingerprints->data()).may_contain(key));
    }
  }
}

TEST(fuse_filter, refuses_equal_keys) {
  const std::vector<std::uint64_t> keys = {1, 2, 3, 3};
  store::fuse_filter_shape shape = store::fuse_filter_shape_for(keys.size());
  EXPECT_FALSE(store::build_fuse_filter(keys, shape));
}

}  // namespace
}  // namespace cutpoint::tests
