// A view of a cluster whose state a test sets.
#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "cluster/routing/cluster_view.h"

namespace cutpoint::tests {

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

}  // namespace cutpoint::tests
