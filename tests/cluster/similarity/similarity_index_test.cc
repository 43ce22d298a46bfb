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

// Equal fingerprints from all threads, in few shards: whatever a thread has seen of a fingerprint stays true, and nothing else
// is there in the end.
TEST(cluster_similarity_index, keeps_the_first_container_of_a_fingerprint_that_many_threads_insert) {
  constexpr std::uint64_t distinct = 400;
  constexpr std::uint64_t thread_count = 4;
  for (const std::size_t lock_count : {1U, 2U, 16U}) {
    similarity_index index({.class_count = 2, .lock_count = lock_count});
    using seen_containers = std::map<std::pair<class_number, std::uint64_t>, container_number>;
    std::vector<seen_containers> seen(thread_count);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < thread_count; ++t) {
      threads.emplace_back([&index, &own = seen[t], t] {
        splitmix64 random(t);
        std::vector<container_number> containers;
        for (container_number i = 0; i < 4000; ++i) {
          const auto application = static_cast<class_number>(random.next() % 2);
          const std::uint64_t fingerprint = random.next() % distinct;
          index.insert(application, {&fingerprint, 1}, i * thread_count + t);
          containers.clear();
          index.append_containers(application, {&fingerprint, 1}, containers);
          ASSERT_EQ(containers.size(), 1U);
          EXPECT_EQ(own.try_emplace({application, fingerprint}, containers[0]).first->second, containers[0]);
        }
      });
    }
    for (std::thread& each : threads) each.join();
    seen_containers all;
    for (const seen_containers& own : seen) {
      for (const auto& [key, container] : own) EXPECT_EQ(all.try_emplace(key, container).first->second, container);
    }
    EXPECT_EQ(index.size(), all.size());
    EXPECT_GT(all.size(), distinct);
  }
}

}  // namespace
}  // namespace cutpoint::tests
