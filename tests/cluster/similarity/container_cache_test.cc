// Tests of the cache of containers against a list that is searched.
#include "cluster/similarity/container_cache.h"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

#include "host/core/splitmix.h"

namespace cutpoint::tests {
namespace {

TEST(cluster_container_cache, has_the_containers_that_were_used_last) {
  constexpr std::size_t capacity = 5;
  // Containers share fingerprints, which must stay until the last of their containers leaves.
  const auto fingerprints_of = [](std::uint64_t container) {
    return std::vector<std::uint64_t>{container, container / 2, container / 3, container / 3};
  };
  cluster::container_cache cache(capacity);
  std::deque<std::uint64_t> model;
  splitmix64 random(1);
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t container = random.next() % 12;
    const auto place = std::find(model.begin(), model.end(), container);
    ASSERT_EQ(cache.use(container), place != model.end());
    if (place != model.end()) {
      model.erase(place);
    } else {
      cache.insert(container, fingerprints_of(container));
      if (model.size() == capacity) model.pop_back();
    }
    model.push_front(container);
    ASSERT_EQ(cache.size(), model.size());
    for (std::uint64_t fingerprint = 0; fingerprint < 12; ++fingerprint) {
      const bool is_cached = std::any_of(model.begin(), model.end(), [&](std::uint64_t each) {
        const auto list = fingerprints_of(each);
        return std::find(list.begin(), list.end(), fingerprint) != list.end();
      });
      ASSERT_EQ(cache.contains(fingerprint), is_cached) << fingerprint;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
