// The policies that a cluster may run: AppDedupe, AppAware, Sigma-Dedupe and consistent hashing of chunks.
#include "cluster/routing/policies.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>

#include <absl/container/flat_hash_map.h>

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

hash_ring::hash_ring(node_number node_count, std::size_t points_per_node) : node_count_(node_count) {
  assert(node_count > 0 && points_per_node > 0);
  points_.reserve(node_count * points_per_node);
  for (node_number node = 0; node < node_count; ++node) {
    splitmix64 positions(splitmix64::mixed(node + 1));
    for (std::size_t i = 0; i < points_per_node; ++i) points_.push_back({positions.next(), node});
  }
  std::sort(points_.begin(), points_.end(), [](const point& left, const point& right) {
    return std::tie(left.position, left.node) < std::tie(right.position, right.node);
  });
  const int arc_bits = std::max(1, static_cast<int>(std::bit_width(points_.size())));
  arc_shift_ = 64 - arc_bits;
  arc_begins_.resize(std::size_t{1} << arc_bits);
  std::size_t next = 0;
  for (std::size_t arc = 0; arc < arc_begins_.size(); ++arc) {
    while (next < points_.size() && points_[next].position < static_cast<std::uint64_t>(arc) << arc_shift_) ++next;
    arc_begins_[arc] = next;
  }
}

std::uint64_t mean_load(std::span<const node_state> nodes) {
  std::uint64_t stored_bytes = 0;
  std::uint64_t live_count = 0;
  for (const node_state& each : nodes) {
    stored_bytes += each.is_alive ? each.stored_bytes : 0;
    live_count += each.is_alive ? 1 : 0;
  }
  assert(live_count != 0);
  return stored_bytes / live_count;
}

bool is_overloaded(std::uint64_t load, std::uint64_t mean, std::uint32_t overload_percent) {
  return overload_percent != 0 && load * 100 > mean * overload_percent;
}

node_number least_loaded(std::span<const node_state> nodes, const std::vector<bool>& is_member) {
  std::optional<node_number> least;
  for (node_number i = 0; i < nodes.size(); ++i) {
    if (is_member[i] && (!least || nodes[i].stored_bytes < nodes[*least].stored_bytes)) least = i;
  }
  return *least;
}

std::vector<bool> live_nodes(std::span<const node_state> nodes) {
  std::vector<bool> is_live(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) is_live[i] = nodes[i].is_alive;
  return is_live;
}

std::vector<bool> application_nodes(class_number application, const cluster_view& view,
                                    std::uint32_t overload_percent) {
  const std::span<const node_state> nodes = view.nodes();
  const std::span<const std::uint64_t> class_bytes = view.class_bytes(application);
  assert(class_bytes.empty() || class_bytes.size() == nodes.size());
  const std::uint64_t mean = mean_load(nodes);
  std::vector<bool> is_member(nodes.size());
  bool is_one_free = false;
  for (node_number i = 0; i < class_bytes.size(); ++i) {
    if (!nodes[i].is_alive || class_bytes[i] == 0) continue;
    is_member[i] = true;
    is_one_free |= !is_overloaded(nodes[i].stored_bytes, mean, overload_percent);
  }
  if (!is_one_free) is_member[least_loaded(nodes, live_nodes(nodes))] = true;
  return is_member;
}

node_number similar_node_choice::choose(const routing_unit& unit, const std::vector<bool>& is_member) {
  assert(!unit.handprint.empty());
  candidates_.clear();
  for (const std::uint64_t fingerprint : unit.handprint) {
    const node_number owner = ring_.owner(fingerprint, [&](node_number node) { return is_member[node]; });
    if (std::find(candidates_.begin(), candidates_.end(), owner) == candidates_.end()) candidates_.push_back(owner);
  }
  counts_.assign(candidates_.size(), 0);
  view_.count_matches(unit.application, unit.handprint, candidates_, counts_);
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (is_better(i, best)) best = i;
  }
  return candidates_[best];
}

// The relative loads w of the paper have the same mean below them, so r_1 / w_1 > r_2 / w_2 is compared without it.
bool similar_node_choice::is_better(std::size_t first, std::size_t second) const {
  const std::uint64_t first_load = view_.nodes()[candidates_[first]].stored_bytes;
  const std::uint64_t second_load = view_.nodes()[candidates_[second]].stored_bytes;
  const bool has_match = counts_[first] != 0;
  if (has_match != (counts_[second] != 0)) return has_match;
  const std::uint64_t first_score = counts_[first] * second_load;
  const std::uint64_t second_score = counts_[second] * first_load;
  return first_score != second_score ? first_score > second_score : first_load < second_load;
}

}  // namespace cutpoint::cluster
