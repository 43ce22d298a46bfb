// Tests of the streams of a node: each alone is the node of one stream, and together they neither lose nor invent a chunk.
#include "cluster/simulator/node_store.h"

#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/similarity/similarity_index.h"
#include "cluster/simulator/simulated_cluster.h"
#include "host/core/splitmix.h"
#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {
namespace {

using cluster::container_store_options;
using cluster::node_store;
using cluster::routed_chunk;
using cluster::shared_containers;

constexpr container_store_options small_containers = {.container_bytes = 400'000, .cached_containers = 4};

/// Super-chunks of 20 chunks. Each third one has chunks of an earlier one.
std::vector<std::vector<routed_chunk>> similar_super_chunks(std::uint64_t seed) {
  splitmix64 random(seed);
  std::vector<std::vector<routed_chunk>> all;
  for (int i = 0; i < 300; ++i) {
    std::vector<routed_chunk>& chunks = all.emplace_back();
    if (i % 3 == 2) chunks = all[random.next() % (all.size() - 1)];
    chunks.resize(20);
    for (std::size_t changed = i % 3 == 2 ? 18 : 0; changed < 20; ++changed) {
      chunks[changed] = {random.next(), 1000 + static_cast<std::uint32_t>(random.next() % 5000)};
    }
  }
  return all;
}

std::uint64_t store_all(node_store& stream, const std::vector<std::vector<routed_chunk>>& super_chunks) {
  std::uint64_t stored_bytes = 0;
  for (const auto& chunks : super_chunks) {
    std::vector<std::uint64_t> handprint;
    cluster::append_handprint(chunks, 4, handprint);
    stored_bytes += stream.store({.application = 0, .client = 0, .chunks = chunks, .handprint = handprint});
  }
  return stored_bytes;
}

std::uint64_t unique_bytes(const std::vector<std::vector<routed_chunk>>& super_chunks) {
  std::set<std::uint64_t> seen;
  std::uint64_t bytes = 0;
  for (const auto& chunks : super_chunks) {
    for (const routed_chunk& each : chunks) bytes += seen.insert(each.fingerprint).second ? each.length : 0;
  }
  return bytes;
}

std::shared_ptr<shared_containers> shared_by(std::size_t lock_count) {
  return std::make_shared<shared_containers>(
      cluster::similarity_index::options{.class_count = 1, .lock_count = lock_count});
}

std::vector<std::uint64_t> store_at_once(const std::vector<std::vector<std::vector<routed_chunk>>>& data,
                                         const std::shared_ptr<shared_containers>& shared) {
  std::vector<std::uint64_t> stored(data.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < data.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto stream = cluster::make_container_store(small_containers, shared);
      stored[i] = store_all(*stream, data[i]);
    });
  }
  for (std::thread& each : threads) each.join();
  return stored;
}

TEST(cluster_container_store, a_stream_whose_data_no_other_has_stores_what_it_would_store_alone) {
  std::vector<std::vector<std::vector<routed_chunk>>> data;
  std::vector<std::uint64_t> alone;
  for (std::uint64_t i = 0; i < 4; ++i) {
    data.push_back(similar_super_chunks(i + 1));
    alone.push_back(store_all(*cluster::make_container_store(small_containers, shared_by(1)), data.back()));
    EXPECT_GE(alone.back(), unique_bytes(data.back()));
    EXPECT_LT(alone.back(), 300 * 20 * 3000U);  // it finds duplicates
  }
  for (const std::size_t lock_count : {1U, 64U}) EXPECT_EQ(store_at_once(data, shared_by(lock_count)), alone);
}

TEST(cluster_container_store, streams_with_equal_data_store_it_once_at_least_and_once_each_at_most) {
  const auto super_chunks = similar_super_chunks(1);
  const std::uint64_t alone = store_all(*cluster::make_container_store(small_containers, shared_by(1)), super_chunks);
  const auto shared = shared_by(8);
  const auto stored = store_at_once({super_chunks, super_chunks, super_chunks}, shared);
  const std::uint64_t all = std::accumulate(stored.begin(), stored.end(), std::uint64_t{0});
  EXPECT_GE(all, unique_bytes(super_chunks));
  EXPECT_LE(all, 3 * alone);
  std::set<std::uint64_t> representatives;
  for (const auto& chunks : super_chunks) {
    std::vector<std::uint64_t> handprint;
    cluster::append_handprint(chunks, 4, handprint);
    representatives.insert(handprint.begin(), handprint.end());
  }
  EXPECT_EQ(shared->index.size(), representatives.size());
  // A later stream finds what the others have closed.
  const auto later = cluster::make_container_store(small_containers, shared);
  EXPECT_LT(store_all(*later, super_chunks), alone / 2);
}

TEST(cluster_container_store, a_container_is_read_when_it_is_closed) {
  cluster::container_list containers;
  const auto first = containers.begin();
  const auto second = containers.begin();
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(second, 1U);
  EXPECT_EQ(containers.find(first), nullptr);
  containers.close(second, {5, 6});
  const std::vector<std::uint64_t>* const closed = containers.find(second);
  ASSERT_NE(closed, nullptr);
  for (int i = 0; i < 1000; ++i) containers.close(containers.begin(), {});
  EXPECT_EQ(*closed, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(containers.find(first), nullptr);
}

// --- The estimates that Produck routes by ------------------------------------------------------------------------------

using cluster::cardinality_sketch;
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

// --- The set of fingerprints -------------------------------------------------------------------------------------------

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
