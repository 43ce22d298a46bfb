// Tests of the similarity index against a map, from many threads, and of its memory.
#include "cluster/similarity/similarity_index.h"

#include <algorithm>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "host/core/splitmix.h"

namespace cutpoint::tests {
namespace {

using cluster::class_number;
using cluster::container_number;
using cluster::similarity_index;

std::vector<std::uint64_t> random_handprint(splitmix64& random, std::uint64_t distinct) {
  std::vector<std::uint64_t> handprint;
  for (std::size_t i = random.next() % 9; i > 0; --i) handprint.push_back(random.next() % distinct);
  return handprint;
}

TEST(cluster_similarity_index, answers_as_a_map_does) {
  for (const std::size_t lock_count : {1U, 7U, 64U}) {
    similarity_index index({.class_count = 3, .lock_count = lock_count});
    std::map<std::pair<class_number, std::uint64_t>, container_number> model;
    splitmix64 random(lock_count);
    for (int step = 0; step < 4000; ++step) {
      const auto application = static_cast<class_number>(random.next() % 3);
      const auto handprint = random_handprint(random, 500);
      if (step % 2 == 0) {
        const container_number container = random.next() % 20;
        index.insert(application, handprint, container);
        for (const std::uint64_t each : handprint) model.try_emplace({application, each}, container);
        continue;
      }
      std::size_t match_count = 0;
      std::vector<container_number> expected;
      for (const std::uint64_t each : handprint) {
        const auto entry = model.find({application, each});
        if (entry == model.end()) continue;
        ++match_count;
        if (std::find(expected.begin(), expected.end(), entry->second) == expected.end()) {
          expected.push_back(entry->second);
        }
      }
      std::vector<container_number> containers;
      index.append_containers(application, handprint, containers);
      ASSERT_EQ(containers, expected);
      ASSERT_EQ(index.count_matches(application, handprint), match_count);
    }
    EXPECT_EQ(index.size(), model.size());
  }
}

TEST(cluster_similarity_index, takes_at_most_40_bytes_for_an_entry) {
  similarity_index index({.class_count = 2, .lock_count = 4});
  splitmix64 random(3);
  for (std::uint64_t count = 1; count <= 100'000; ++count) {
    const std::uint64_t fingerprint = random.next();
    index.insert(static_cast<class_number>(count % 2), {&fingerprint, 1}, count);
    if (count % 37 == 0) {
      ASSERT_EQ(index.size(), count);
      ASSERT_LE(index.memory_bytes(), 40 * count);
    }
  }
}

TEST(cluster_similarity_index, is_used_by_many_threads_at_once) {
  similarity_index index({.class_count = 2, .lock_count = 8});
  constexpr std::uint64_t handprints_each = 3000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&index, t] {
      for (std::uint64_t i = 0; i < handprints_each; ++i) {
        const std::uint64_t own = i * 8 + t * 2;
        const std::uint64_t handprint[] = {own, own + 1};
        index.insert(static_cast<class_number>(t % 2), handprint, t);
        EXPECT_EQ(index.count_matches(static_cast<class_number>(t % 2), handprint), 2U);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(index.size(), 4 * handprints_each * 2);
}

}  // namespace
}  // namespace cutpoint::tests
