// Routing policies: which node each super-chunk of a batch is stored on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cluster/routing/cluster_view.h"

namespace cutpoint::cluster {

/// What one decision is about.
enum class routing_unit_kind { chunk, super_chunk, file };

/// A routing unit: the chunks that go to one node together.
struct routing_unit {
  class_number application = 0;  ///< 0 for a policy that knows no classes
  std::uint32_t client = 0;      ///< whose data it is
  std::span<const routed_chunk> chunks;
  std::span<const std::uint64_t> handprint;  ///< empty for chunks
};

/// A policy is a function of a batch and a view. Immutable, thus thread-safe.
class routing_policy {
 public:
  virtual ~routing_policy() = default;

  [[nodiscard]] virtual routing_unit_kind unit_kind() const noexcept { return routing_unit_kind::super_chunk; }
  /// Returns whether the policy and the similarity indexes keep application classes apart. Other policies are given 0.
  [[nodiscard]] virtual bool is_application_aware() const noexcept { return false; }
  /// Returns whether the policy asks for matches of handprints, so that nodes need a similarity index.
  [[nodiscard]] virtual bool needs_similarity_index() const noexcept { return false; }

  /// Sets `nodes[i]` to the node of `batch[i]`, which is alive.
  virtual void route(std::span<const routing_unit> batch, const cluster_view& view,
                     std::span<node_number> nodes) const = 0;
};

struct routing_options {
  /// Nodes of the cluster, dead ones and those to come included. From 1 to 65,536.
  node_number node_count = 4;
  /// Points of each node on the ring of consistent hashing. From 1 to 10,000; 1 is what the paper seems to have.
  std::size_t points_per_node = 100;
  /// A node with more than this percentage of the mean load is overloaded, and a class whose nodes all are gets another
  /// one (algorithm 1). From 1 to 10,000; or 0, which means that no node ever is. A lower percentage spreads the load more
  /// evenly, and each class over more nodes. AppDedupe alone uses it.
  std::uint32_t overload_percent = 105;
};

/// AppDedupe: algorithm 1 chooses the nodes of the class, algorithm 2 one of them for each super-chunk.
[[nodiscard]] std::unique_ptr<routing_policy> make_app_dedupe(const routing_options& options);
/// AppAware of table 6: algorithm 1 alone, in which no node is overloaded, so that each class stays on one node.
[[nodiscard]] std::unique_ptr<routing_policy> make_app_aware();
/// Sigma-Dedupe: algorithm 2 over all nodes, without classes.
[[nodiscard]] std::unique_ptr<routing_policy> make_sigma_dedupe(const routing_options& options);
/// Each chunk to the node that its fingerprint belongs to by consistent hashing. Equal chunks meet on one node, so nothing
/// is stored twice, and neighbours are torn apart.
[[nodiscard]] std::unique_ptr<routing_policy> make_dht(const routing_options& options);

}  // namespace cutpoint::cluster
