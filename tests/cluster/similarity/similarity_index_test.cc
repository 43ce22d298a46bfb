// Tests of the similarity index against a map, from many threads, and of its memory.
#include "cluster/similarity/similarity_index.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "host/core/splitmix.h"
#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::append_handprint;
using cluster::class_number;
using cluster::container_number;
using cluster::routed_chunk;
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

// --- The cache of containers, against a list that is searched ----------------------------------------------------------

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

// --- Handprints and the two formulas about them ------------------------------------------------------------------------

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

}  // namespace
}  // namespace cutpoint::tests
