#include "cluster/simulator/simulated_policies.h"

#include <algorithm>
#include <array>
#include <optional>

#include <cutpoint/cluster/simulation.h>

namespace cutpoint::cluster {

namespace {

class smallest_fingerprint final : public routing_policy {
 public:
  smallest_fingerprint(const routing_options& options, routing_unit_kind kind)
      : ring_(options.node_count, options.points_per_node), kind_(kind) {}

  routing_unit_kind unit_kind() const noexcept override { return kind_; }

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    for (std::size_t i = 0; i < batch.size(); ++i) nodes[i] = node_of(batch[i], view);
  }

  [[nodiscard]] node_number node_of(const routing_unit& unit, const cluster_view& view) const {
    return ring_.owner(unit.handprint.front(), [&](node_number node) { return view.nodes()[node].is_alive; });
  }

 private:
  hash_ring ring_;
  routing_unit_kind kind_;
};

/// Compares how many of a routing unit's chunks the nodes have, for their loads.
class chunk_vote {
 public:
  chunk_vote(const simulated_cluster& cluster, std::uint32_t overload_percent)
      : cluster_(cluster),
        is_free_(nodes_that_are_not_overloaded(cluster.nodes(), overload_percent)),
        counts_(is_free_.size()) {}

  [[nodiscard]] bool is_free(node_number node) const { return is_free_[node]; }

  /// Asks all nodes for an eighth of the chunks. Returns the node with the most matches for its load, or nullopt if no free
  /// node has a match.
  [[nodiscard]] std::optional<node_number> winner_of_sample(const routing_unit& unit) {
    constexpr std::uint64_t sampled_share = 8;
    sample_.clear();
    for (const routed_chunk& each : unit.chunks) {
      if (splitmix64::mixed(each.fingerprint) % sampled_share == 0) sample_.push_back(each.fingerprint);
    }
    cluster_.count_chunks(sample_, counts_);
    return winner();
  }

  /// Returns the same for all chunks, by estimates.
  [[nodiscard]] std::optional<node_number> winner_of_estimates(const routing_unit& unit) {
    cluster_.estimate_chunks(unit.chunks, counts_);
    return winner();
  }

  [[nodiscard]] node_number least_loaded_node() const { return least_loaded(cluster_.nodes(), is_free_); }

 private:
  [[nodiscard]] std::optional<node_number> winner() const {
    std::optional<node_number> best;
    for (node_number i = 0; i < counts_.size(); ++i) {
      if (is_free_[i] && counts_[i] != 0 && (!best || is_better(i, *best))) best = i;
    }
    return best;
  }

  static std::vector<bool> nodes_that_are_not_overloaded(std::span<const node_state> nodes, std::uint32_t percent) {
    std::vector<bool> is_free = live_nodes(nodes);
    const std::uint64_t mean_bytes = mean_load(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      is_free[i] = is_free[i] && !is_overloaded(nodes[i].stored_bytes, mean_bytes, percent);
    }
    return is_free;
  }

  [[nodiscard]] bool is_better(node_number first, node_number second) const {
    const std::uint64_t first_load = cluster_.nodes()[first].stored_bytes;
    const std::uint64_t second_load = cluster_.nodes()[second].stored_bytes;
    return counts_[first] * second_load > counts_[second] * first_load;
  }

  const simulated_cluster& cluster_;
  std::vector<bool> is_free_;
  std::vector<std::uint64_t> sample_;
  std::vector<std::uint32_t> counts_;
};

class emc_stateful final : public routing_policy {
 public:
  emc_stateful(const routing_options& options, const simulated_cluster& cluster)
      : stateless_(options, routing_unit_kind::super_chunk),
        overload_percent_(options.overload_percent),
        cluster_(cluster) {}

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    chunk_vote vote(cluster_, overload_percent_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto winner = vote.winner_of_sample(batch[i]);
      const node_number stateless = stateless_.node_of(batch[i], view);
      nodes[i] = winner ? *winner : vote.is_free(stateless) ? stateless : vote.least_loaded_node();
    }
  }

 private:
  smallest_fingerprint stateless_;
  std::uint32_t overload_percent_;
  const simulated_cluster& cluster_;
};

class produck final : public routing_policy {
 public:
  produck(const routing_options& options, const simulated_cluster& cluster)
      : overload_percent_(options.overload_percent), cluster_(cluster) {}

  void route(std::span<const routing_unit> batch, const cluster_view&, std::span<node_number> nodes) const override {
    chunk_vote vote(cluster_, overload_percent_);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto winner = vote.winner_of_estimates(batch[i]);
      nodes[i] = winner ? *winner : vote.least_loaded_node();
    }
  }

 private:
  std::uint32_t overload_percent_;
  const simulated_cluster& cluster_;
};

class calb final : public routing_policy {
 public:
  explicit calb(const simulated_cluster& cluster) : cluster_(cluster) {}

  void route(std::span<const routing_unit> batch, const cluster_view&, std::span<node_number> nodes) const override {
    constexpr std::uint32_t moving_percent = 200;
    chunk_vote vote(cluster_, moving_percent);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto present = cluster_.node_of_client(batch[i].client);
      if (present && vote.is_free(*present)) {
        nodes[i] = *present;
        continue;
      }
      const auto winner = vote.winner_of_sample(batch[i]);
      nodes[i] = winner ? *winner : vote.least_loaded_node();
    }
  }

 private:
  const simulated_cluster& cluster_;
};

}  // namespace

std::unique_ptr<routing_policy> make_emc_stateless(const routing_options& options) {
  return std::make_unique<smallest_fingerprint>(options, routing_unit_kind::super_chunk);
}

std::unique_ptr<routing_policy> make_emc_stateful(const routing_options& options, const simulated_cluster& cluster) {
  return std::make_unique<emc_stateful>(options, cluster);
}

std::unique_ptr<routing_policy> make_produck(const routing_options& options, const simulated_cluster& cluster) {
  return std::make_unique<produck>(options, cluster);
}

std::unique_ptr<routing_policy> make_calb(const simulated_cluster& cluster) { return std::make_unique<calb>(cluster); }

std::unique_ptr<routing_policy> make_extreme_binning(const routing_options& options) {
  return std::make_unique<smallest_fingerprint>(options, routing_unit_kind::file);
}

constexpr std::uint32_t filter_bytes = 1;  // of a Bloom filter, as in Data Domain's file system
constexpr std::uint32_t file_bytes = 48;   // of the primary index of Extreme Binning

constexpr std::array<simulated_policy, 9> policies = {{
    {.name = "app-dedupe", .make = [](const auto& options, const auto&) { return make_app_dedupe(options); }},
    {.name = "app-aware", .make = [](const auto&, const auto&) { return make_app_aware(); }},
    {.name = "sigma-dedupe", .make = [](const auto& options, const auto&) { return make_sigma_dedupe(options); }},
    {.name = "dht", .make = [](const auto& options, const auto&) { return make_dht(options); }},
    {.name = "emc-stateless",
     .make = [](const auto& options, const auto&) { return make_emc_stateless(options); },
     .index_entry_bytes = filter_bytes},
    {.name = "emc-stateful",
     .make = [](const auto& options, const auto& cluster) { return make_emc_stateful(options, cluster); },
     .index_entry_bytes = filter_bytes},
    {.name = "calb",
     .make = [](const auto&, const auto& cluster) { return make_calb(cluster); },
     .index_entry_bytes = filter_bytes},
    {.name = "extreme-binning",
     .make = [](const auto& options, const auto&) { return make_extreme_binning(options); },
     .deduplicates_in_bins = true,
     .index_entry_bytes = file_bytes},
    {.name = "produck",
     .make = [](const auto& options, const auto& cluster) { return make_produck(options, cluster); },
     .needs_sketches = true},
}};

constexpr auto names_of_policies = [] {
  std::array<std::string_view, policies.size()> list;
  for (std::size_t i = 0; i < policies.size(); ++i) list[i] = policies[i].name;
  return list;
}();

const simulated_policy* find_policy(std::string_view name) {
  const auto row = std::find_if(policies.begin(), policies.end(), [&](const auto& each) { return each.name == name; });
  return row == policies.end() ? nullptr : &*row;
}

std::span<const std::string_view> policy_names() { return names_of_policies; }

}  // namespace cutpoint::cluster
