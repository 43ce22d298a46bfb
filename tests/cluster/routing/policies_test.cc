// Tests of the policies on states that a test sets; tests/cluster/models compares them with plain models.
#include "cluster/routing/policies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/similarity/similarity_index.h"
#include "tests/cluster/support/trace_bytes.h"

namespace cutpoint::tests {

// A view of a cluster whose state a test sets.

struct array_view final : cluster::cluster_view {
  explicit array_view(std::size_t node_count) : states(node_count) {}

  std::span<const cluster::node_state> nodes() const override { return states; }

  std::span<const std::uint64_t> class_bytes(cluster::class_number application) const override {
    const auto row = bytes.find(application);
    return row == bytes.end() ? std::span<const std::uint64_t>() : row->second;
  }

  void count_matches(cluster::class_number application, std::span<const std::uint64_t> handprint,
                     std::span<const cluster::node_number> candidates, std::span<std::uint32_t> counts) const override {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      counts[i] = 0;
      const auto index = indexes.find({application, candidates[i]});
      if (index == indexes.end()) continue;
      for (const std::uint64_t fingerprint : handprint) counts[i] += index->second.contains(fingerprint) ? 1U : 0U;
    }
  }

  std::vector<cluster::node_state> states;
  std::map<cluster::class_number, std::vector<std::uint64_t>> bytes;
  std::map<std::pair<cluster::class_number, cluster::node_number>, std::set<std::uint64_t>> indexes;
};

namespace {

using cluster::node_number;
using cluster::routing_policy;
using cluster::routing_unit;

struct unit_with_chunks {
  std::vector<cluster::routed_chunk> chunks;
  std::vector<std::uint64_t> handprint;
  routing_unit unit;

  unit_with_chunks(splitmix64& random, std::size_t chunk_count, cluster::class_number application)
      : chunks(random_chunks(random, chunk_count)) {
    cluster::append_handprint(chunks, 8, handprint);
    unit = {application, 0, chunks, handprint};
  }
  unit_with_chunks(const unit_with_chunks&) = delete;
};

node_number route_alone(const routing_policy& policy, const routing_unit& unit, const array_view& view) {
  node_number node = ~node_number{0};
  policy.route({&unit, 1}, view, {&node, 1});
  return node;
}

std::vector<std::unique_ptr<routing_policy>> all_policies(const cluster::routing_options& options) {
  std::vector<std::unique_ptr<routing_policy>> policies;
  policies.push_back(make_app_dedupe(options));
  policies.push_back(cluster::make_app_aware());
  policies.push_back(make_sigma_dedupe(options));
  policies.push_back(make_dht(options));
  return policies;
}

TEST(cluster_policies, route_to_live_nodes_and_each_unit_as_if_it_were_alone) {
  constexpr node_number node_count = 9;
  splitmix64 random(1);
  for (const auto& policy : all_policies({.node_count = node_count})) {
    for (int round = 0; round < 40; ++round) {
      array_view view(node_count);
      for (auto& each : view.states) each = {random.next() % 1000, random.next() % 3 != 0};
      view.states[random.next() % node_count].is_alive = true;
      std::vector<std::unique_ptr<unit_with_chunks>> units;
      std::vector<routing_unit> batch;
      for (cluster::class_number i = 0; i < 12; ++i) {
        units.push_back(std::make_unique<unit_with_chunks>(random, 1 + random.next() % 30, i % 3));
        batch.push_back(units.back()->unit);
        view.indexes[{i % 3, static_cast<node_number>(random.next() % node_count)}].insert(
            batch.back().handprint.begin(), batch.back().handprint.end());
        if (i % 3 != 0) view.bytes[i % 3] = {0, 5, 0, 0, 7, 1, 0, 0, 2};
      }
      std::vector<node_number> nodes(batch.size());
      policy->route(batch, view, nodes);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        ASSERT_TRUE(view.states[nodes[i]].is_alive);
        ASSERT_EQ(nodes[i], route_alone(*policy, batch[i], view));
      }
    }
  }
}

TEST(cluster_policies, sigma_dedupe_prefers_matches_then_low_load) {
  const auto policy = cluster::make_sigma_dedupe({.node_count = 50});
  splitmix64 random(2);
  const unit_with_chunks unit(random, 256, 0);
  array_view view(50);
  std::set<node_number> candidates;
  while (candidates.size() < 3) {  // the least loaded candidate is chosen, and then made heavy
    const node_number node = route_alone(*policy, unit.unit, view);
    ASSERT_TRUE(candidates.insert(node).second);
    view.states[node].stored_bytes = 1000;
  }
  const std::vector<node_number> known(candidates.begin(), candidates.end());
  view.indexes[{0, known[0]}] = {unit.handprint[0]};
  EXPECT_EQ(route_alone(*policy, unit.unit, view), known[0]) << "one match weighs more than an empty node";
  view.indexes[{0, known[1]}] = {unit.handprint[1], unit.handprint[2]};
  EXPECT_EQ(route_alone(*policy, unit.unit, view), known[1]) << "two matches weigh more than one";
  view.states[known[1]].stored_bytes = 2001;
  EXPECT_EQ(route_alone(*policy, unit.unit, view), known[0]) << "but not at more than twice the load";
}

TEST(cluster_policies, sigma_dedupe_sees_at_most_as_many_nodes_as_the_handprint_has_fingerprints) {
  const auto policy = cluster::make_sigma_dedupe({.node_count = 200});
  splitmix64 random(3);
  const unit_with_chunks unit(random, 256, 0);
  array_view view(200);
  std::set<node_number> chosen;
  for (int i = 0; i < 100; ++i) {
    const node_number node = route_alone(*policy, unit.unit, view);
    chosen.insert(node);
    view.states[node].stored_bytes += 10;
  }
  EXPECT_LE(chosen.size(), 8U);
  EXPECT_GE(chosen.size(), 6U);  // two fingerprints of eight may belong to the same node
}

TEST(cluster_policies, app_dedupe_keeps_a_class_on_its_nodes_until_all_are_overloaded) {
  const auto policy = cluster::make_app_dedupe({.node_count = 4});
  splitmix64 random(4);
  array_view view(4);
  for (auto& each : view.states) each.stored_bytes = 100;
  view.states[3].stored_bytes = 99;
  const unit_with_chunks unit(random, 256, 5);
  EXPECT_EQ(route_alone(*policy, unit.unit, view), 3U) << "a new class goes to the least loaded node";
  view.bytes[5] = {0, 100, 0, 0};
  EXPECT_EQ(route_alone(*policy, unit.unit, view), 1U) << "then it stays";
  view.states[1].stored_bytes = 105;
  EXPECT_EQ(route_alone(*policy, unit.unit, view), 1U) << "within 105 % of the mean, which is 101 bytes";
  view.states[1].stored_bytes = 120;
  std::map<node_number, int> counts;
  for (int i = 0; i < 40; ++i) ++counts[route_alone(*policy, unit_with_chunks(random, 256, 5).unit, view)];
  EXPECT_GE(counts[3], 35) << "the least loaded node joins, and has less load than node 1";
  EXPECT_EQ(counts[1] + counts[3], 40) << "node 1 gets those whose whole handprint belongs to it";
  view.states[1].is_alive = false;
  view.bytes[5] = {0, 100, 0, 0};
  EXPECT_EQ(route_alone(*policy, unit.unit, view), 3U) << "a class whose only node is dead gets another";
}

TEST(cluster_policies, app_aware_never_splits_a_class) {
  const auto policy = cluster::make_app_aware();
  splitmix64 random(5);
  array_view view(3);
  view.states[1].stored_bytes = 1'000'000;
  view.bytes[2] = {0, 1'000'000, 0};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(route_alone(*policy, unit_with_chunks(random, 100, 2).unit, view), 1U);
    EXPECT_EQ(route_alone(*policy, unit_with_chunks(random, 100, 1).unit, view), 0U);
  }
}

TEST(cluster_policies, dht_routes_equal_chunks_to_the_same_node) {
  const auto policy = cluster::make_dht({.node_count = 16});
  EXPECT_EQ(policy->unit_kind(), cluster::routing_unit_kind::chunk);
  splitmix64 random(6);
  std::set<node_number> chosen;
  for (int i = 0; i < 300; ++i) {
    const unit_with_chunks unit(random, 1, 0);
    array_view view(16);
    const node_number node = route_alone(*policy, unit.unit, view);
    for (auto& each : view.states) each.stored_bytes = random.next() % 1000;
    EXPECT_EQ(route_alone(*policy, unit.unit, view), node);
    chosen.insert(node);
  }
  EXPECT_EQ(chosen.size(), 16U);
}

}  // namespace
// Tests of consistent hashing against a search through all points, and of what moves when nodes come and go.

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
