// The policies that a cluster may run: AppDedupe, AppAware, Sigma-Dedupe and consistent hashing of chunks.
#include <absl/container/flat_hash_map.h>

#include "cluster/routing/application_nodes.h"
#include "cluster/routing/hash_ring.h"
#include "cluster/routing/policy.h"
#include "cluster/routing/similar_node.h"

namespace cutpoint::cluster {

namespace {

/// The nodes of the classes in a batch, each looked up once.
class batch_applications {
 public:
  batch_applications(const cluster_view& view, std::uint32_t overload_percent)
      : view_(view), overload_percent_(overload_percent) {}

  const std::vector<bool>& nodes_of(class_number application) {
    const auto [entry, is_new] = members_.try_emplace(application);
    if (is_new) entry->second = application_nodes(application, view_, overload_percent_);
    return entry->second;
  }

 private:
  const cluster_view& view_;
  std::uint32_t overload_percent_;
  absl::flat_hash_map<class_number, std::vector<bool>> members_;
};

class app_dedupe final : public routing_policy {
 public:
  explicit app_dedupe(const routing_options& options)
      : ring_(options.node_count, options.points_per_node), overload_percent_(options.overload_percent) {}

  bool is_application_aware() const noexcept override { return true; }
  bool needs_similarity_index() const noexcept override { return true; }

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    batch_applications applications(view, overload_percent_);
    similar_node_choice choice(ring_, view);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      nodes[i] = choice.choose(batch[i], applications.nodes_of(batch[i].application));
    }
  }

 private:
  hash_ring ring_;
  std::uint32_t overload_percent_;
};

class app_aware final : public routing_policy {
 public:
  bool is_application_aware() const noexcept override { return true; }

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    batch_applications applications(view, 0);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      nodes[i] = least_loaded(view.nodes(), applications.nodes_of(batch[i].application));
    }
  }
};

class sigma_dedupe final : public routing_policy {
 public:
  explicit sigma_dedupe(const routing_options& options) : ring_(options.node_count, options.points_per_node) {}

  bool needs_similarity_index() const noexcept override { return true; }

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    const std::vector<bool> is_live = live_nodes(view.nodes());
    similar_node_choice choice(ring_, view);
    for (std::size_t i = 0; i < batch.size(); ++i) nodes[i] = choice.choose(batch[i], is_live);
  }

 private:
  hash_ring ring_;
};

class dht final : public routing_policy {
 public:
  explicit dht(const routing_options& options) : ring_(options.node_count, options.points_per_node) {}

  routing_unit_kind unit_kind() const noexcept override { return routing_unit_kind::chunk; }

  void route(std::span<const routing_unit> batch, const cluster_view& view,
             std::span<node_number> nodes) const override {
    const std::span<const node_state> states = view.nodes();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      nodes[i] =
          ring_.owner(batch[i].chunks.front().fingerprint, [&](node_number node) { return states[node].is_alive; });
    }
  }

 private:
  hash_ring ring_;
};

}  // namespace

std::unique_ptr<routing_policy> make_app_dedupe(const routing_options& options) {
  return std::make_unique<app_dedupe>(options);
}

std::unique_ptr<routing_policy> make_app_aware() { return std::make_unique<app_aware>(); }

std::unique_ptr<routing_policy> make_sigma_dedupe(const routing_options& options) {
  return std::make_unique<sigma_dedupe>(options);
}

std::unique_ptr<routing_policy> make_dht(const routing_options& options) { return std::make_unique<dht>(options); }

}  // namespace cutpoint::cluster
