// Routing policies: which node each super-chunk of a batch is stored on, by what a cluster view tells or by consistent hashing.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

// What a routing decision sees of the cluster.

struct node_state {
  std::uint64_t stored_bytes = 0;  ///< after deduplication; less than 1 PiB, so that products with it fit 64 bits
  bool is_alive = true;            ///< whether super-chunks may be routed to the node
};

/// The state of a cluster at the beginning of a batch. It does not change while the batch is routed. In a simulator it is
/// arrays, in a cluster the last answers of nodes and director.
class cluster_view {
 public:
  virtual ~cluster_view() = default;

  /// Returns the state of each node, by its number. At least one is alive.
  [[nodiscard]] virtual std::span<const node_state> nodes() const = 0;

  /// Returns the bytes of a class that were routed to each node, duplicates included, by the node's number: a row of the
  /// application route table. It is empty if no node has any.
  [[nodiscard]] virtual std::span<const std::uint64_t> class_bytes(class_number application) const = 0;

  /// Sets `counts[i]` to the number of fingerprints of a handprint that the similarity index of `candidates[i]` has in
  /// this class. In a cluster it is one message to each candidate.
  virtual void count_matches(class_number application, std::span<const std::uint64_t> handprint,
                             std::span<const node_number> candidates, std::span<std::uint32_t> counts) const = 0;
};

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

/// A ring of 2^64 positions with several points for each node. A fingerprint belongs to the node of the first point at or
/// after its position. Positions are hashes of fingerprints, because the representative fingerprints of super-chunks are
/// the smallest ones and would all fall on a small arc.
///
/// The ring has all nodes that there may be. Whoever asks says which of them count, and the points of the others are
/// passed over, so that a subset of the nodes has the ring that it would have alone. Immutable, thus thread-safe.
class hash_ring {
 public:
  /// Both are at least 1. With 100 points the loads of nodes differ by about 10 % of their mean (one standard deviation);
  /// with one point, as the paper seems to have, by about 100 %.
  hash_ring(node_number node_count, std::size_t points_per_node);

  [[nodiscard]] node_number node_count() const noexcept { return node_count_; }

  /// Returns the node that a fingerprint belongs to among those for which `is_member(node)` is true. There must be one.
  template <class Predicate>
  [[nodiscard]] node_number owner(std::uint64_t fingerprint, Predicate&& is_member) const {
    for (std::size_t i = first_point(splitmix64::mixed(fingerprint)), steps = 0;; ++i, ++steps) {
      assert(steps <= points_.size());
      if (i == points_.size()) i = 0;
      if (is_member(points_[i].node)) return points_[i].node;
    }
  }

 private:
  struct point {
    std::uint64_t position;
    node_number node;
  };

  /// Returns the index of the first point at or after a position. It is `points_.size()` after the last point.
  [[nodiscard]] std::size_t first_point(std::uint64_t position) const {
    std::size_t i = arc_begins_[position >> arc_shift_];
    while (i < points_.size() && points_[i].position < position) ++i;
    return i;
  }

  node_number node_count_;
  std::vector<point> points_;            ///< in ascending order
  int arc_shift_;                        ///< the positions are divided into arcs by their first bits
  std::vector<std::size_t> arc_begins_;  ///< the first point at or after the beginning of each arc
};

/// Returns the mean load of the nodes that are alive, in whole bytes.
[[nodiscard]] std::uint64_t mean_load(std::span<const node_state> nodes);

/// Returns whether a load is more than `overload_percent` of the mean; never if that is 0. It is at most 10,000.
[[nodiscard]] bool is_overloaded(std::uint64_t load, std::uint64_t mean, std::uint32_t overload_percent);

/// Returns the least loaded node of those with a flag, and of equal ones the first. There must be one.
[[nodiscard]] node_number least_loaded(std::span<const node_state> nodes, const std::vector<bool>& is_member);

/// Returns a flag for each node that is alive.
[[nodiscard]] std::vector<bool> live_nodes(std::span<const node_state> nodes);

/// Returns a flag for each node that a class may be routed to: those alive that have data of the class, and, if there is
/// none or all of these are overloaded, the least loaded node alive too.
/// `overload_percent` is that of `is_overloaded`.
[[nodiscard]] std::vector<bool> application_nodes(class_number application, const cluster_view& view,
                                                  std::uint32_t overload_percent);

/// Chooses the node of one super-chunk after another. Not thread-safe: it reuses its memory.
class similar_node_choice {
 public:
  /// The references must outlive the choice.
  similar_node_choice(const hash_ring& ring, const cluster_view& view) : ring_(ring), view_(view) {}

  /// Returns the node of a super-chunk among those with a flag. Its candidates are the nodes that the fingerprints of its
  /// handprint belong to. The candidate with the most matches for its load is chosen, or the least loaded if none has a
  /// match; of equal ones the less loaded, then the one of the smallest fingerprint.
  [[nodiscard]] node_number choose(const routing_unit& unit, const std::vector<bool>& is_member);

 private:
  [[nodiscard]] bool is_better(std::size_t first, std::size_t second) const;

  const hash_ring& ring_;
  const cluster_view& view_;
  std::vector<node_number> candidates_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace cutpoint::cluster
