// Tests of consistent hashing against a search through all points, and of what moves when nodes come and go.
#include "cluster/routing/hash_ring.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace cutpoint::tests {
namespace {

using cluster::hash_ring;
using cluster::node_number;

/// The node of the point that is the shortest distance after the fingerprint's position.
node_number nearest_node(std::uint64_t fingerprint, const std::vector<bool>& is_member, std::size_t points_per_node) {
  node_number nearest = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (node_number node = 0; node < is_member.size(); ++node) {
    splitmix64 positions(splitmix64::mixed(node + 1));
    for (std::size_t i = 0; i < points_per_node; ++i) {
      const std::uint64_t distance = positions.next() - splitmix64::mixed(fingerprint);
      if (is_member[node] && distance < shortest) {
        shortest = distance;
        nearest = node;
      }
    }
  }
  return nearest;
}

std::vector<std::uint64_t> loads(const hash_ring& ring, const std::vector<bool>& is_member, std::size_t count) {
  std::vector<std::uint64_t> owned(ring.node_count());
  splitmix64 random(9);
  for (std::size_t i = 0; i < count; ++i) {
    ++owned[ring.owner(random.next(), [&](node_number node) { return is_member[node]; })];
  }
  return owned;
}

TEST(cluster_hash_ring, gives_a_fingerprint_to_the_nearest_point_after_it) {
  splitmix64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<bool> is_member(1 + random.next() % 12);
    for (std::size_t i = 0; i < is_member.size(); ++i) is_member[i] = random.next() % 3 != 0;
    is_member[random.next() % is_member.size()] = true;
    const std::size_t points_per_node = 1 + random.next() % 5;
    const hash_ring ring(static_cast<node_number>(is_member.size()), points_per_node);
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t fingerprint = random.next();
      ASSERT_EQ(ring.owner(fingerprint, [&](node_number node) { return is_member[node]; }),
                nearest_node(fingerprint, is_member, points_per_node));
    }
  }
}

TEST(cluster_hash_ring, moves_only_what_a_node_that_leaves_or_joins_has) {
  constexpr node_number node_count = 20;
  constexpr int fingerprint_count = 20'000;
  const hash_ring ring(node_count, 100);
  splitmix64 random(2);
  for (node_number leaving = 0; leaving < node_count; ++leaving) {
    int moved = 0;
    for (int i = 0; i < fingerprint_count; ++i) {
      const std::uint64_t fingerprint = random.next();
      const node_number whole = ring.owner(fingerprint, [](node_number) { return true; });
      const node_number rest = ring.owner(fingerprint, [&](node_number node) { return node != leaving; });
      ASSERT_EQ(whole == rest, whole != leaving);
      moved += whole != rest ? 1 : 0;
    }
    // A node's arcs sum up to 1/20 of the ring, with a standard deviation of a tenth of that; five of them are allowed.
    EXPECT_NEAR(moved, fingerprint_count / node_count, fingerprint_count / node_count / 2);
  }
}

TEST(cluster_hash_ring, more_points_spread_the_load_more_evenly) {
  constexpr node_number node_count = 64;
  constexpr std::size_t count = 640'000;
  const std::vector<bool> all(node_count, true);
  const auto deviation = [&](std::size_t points_per_node) {
    double sum = 0;
    for (const std::uint64_t load : loads(hash_ring(node_count, points_per_node), all, count)) {
      const double mean = static_cast<double>(count) / node_count;
      sum += (static_cast<double>(load) / mean - 1) * (static_cast<double>(load) / mean - 1);
    }
    return std::sqrt(sum / node_count);
  };
  EXPECT_GT(deviation(1), 0.6);
  EXPECT_LT(deviation(100), 0.14);
}

TEST(cluster_hash_ring, spreads_the_smallest_fingerprints_too) {
  const hash_ring ring(8, 100);
  std::vector<int> owned(8);
  for (std::uint64_t fingerprint = 0; fingerprint < 8000; ++fingerprint) {
    ++owned[ring.owner(fingerprint, [](node_number) { return true; })];
  }
  for (const int each : owned) EXPECT_NEAR(each, 1000, 400);
}

}  // namespace
}  // namespace cutpoint::tests
