// The cache of a view keeps what was used last within its memory.
#include "store/view/recent_cache.h"

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

TEST(recent_cache, keeps_what_was_used_last_within_its_memory) {
  store::recent_cache<int> cache(10'000);
  const auto name = [](std::uint8_t number) { return digest{{number}, 32}; };
  for (std::uint8_t number = 0; number < 100; ++number) {
    cache.insert(name(number), std::make_shared<const int>(number), 800);
    ASSERT_LE(cache.memory_bytes(), 10'000u);
    const auto first = cache.find(name(0));
    ASSERT_NE(first, nullptr) << int{number};
    EXPECT_EQ(*first, 0);
  }
  EXPECT_NE(cache.find(name(99)), nullptr);
  EXPECT_EQ(cache.find(name(1)), nullptr);
  const auto value = cache.find(name(99));
  cache.insert(name(200), std::make_shared<const int>(200), 20'000);  // too large
  EXPECT_EQ(cache.find(name(200)), nullptr);
  EXPECT_EQ(*value, 99);
}

}  // namespace
}  // namespace cutpoint::tests
