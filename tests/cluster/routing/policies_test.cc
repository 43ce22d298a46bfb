// Tests of the policies on states that a test sets; tests/cluster_cli/models.py has a plain model of each.
#include "cluster/routing/policies.h"

#include <cmath>
#include <map>
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

using cluster::hash_ring;
using cluster::node_number;
using cluster::routing_policy;
using cluster::routing_unit;

struct unit_with_chunks {
  unit_with_chunks(splitmix64& random, std::size_t chunk_count, cluster::class_number application)
      : chunks(random_chunks(random, chunk_count)) {
    cluster::append_handprint(chunks, 8, handprint);
    unit = {application, 0, chunks, handprint};
  }
  unit_with_chunks(const unit_with_chunks&) = delete;

  std::vector<cluster::routed_chunk> chunks;
  std::vector<std::uint64_t> handprint;
  routing_unit unit;
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

// --- Consistent hashing, against a search through all points -----------------------------------------------------------

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

TEST(cluster_hash_ring, more_points_spread_the_load_more_evenly) {
  constexpr node_number node_count = 64;
  constexpr std::size_t count = 640'000;
  const auto deviation = [&](std::size_t points_per_node) {
    const hash_ring ring(node_count, points_per_node);
    std::vector<std::uint64_t> loads(node_count);
    splitmix64 random(9);
    for (std::size_t i = 0; i < count; ++i) ++loads[ring.owner(random.next(), [](node_number) { return true; })];
    double sum = 0;
    for (const std::uint64_t load : loads) {
      const double mean = static_cast<double>(count) / node_count;
      sum += (static_cast<double>(load) / mean - 1) * (static_cast<double>(load) / mean - 1);
    }
    return std::sqrt(sum / node_count);
  };
  EXPECT_GT(deviation(1), 0.6);
  EXPECT_LT(deviation(100), 0.14);
}

}  // namespace
}  // namespace cutpoint::tests
