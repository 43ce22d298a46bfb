// The state of a simulated cluster, with sketches of what its nodes have.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <cutpoint/cluster/routed_chunk.h>

#include "cluster/routing/policies.h"
#include "cluster/simulator/node_store.h"

namespace cutpoint::cluster {

/// The bits that some fingerprints set in a sketch: for each of their bitmaps, in ascending order, its number and its bits.
using sketch_bits = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

[[nodiscard]] sketch_bits sketch_bits_of(std::span<const routed_chunk> chunks);

/// Probabilistic counting (Flajolet and Martin, 1985): a fingerprint belongs to one of 8,192 bitmaps of 64 bits, and sets bit b
/// of it with the probability 2^-(b+1). The count is estimated by the mean number of ones that bitmaps begin with. The sketch of
/// a union is the union of the sketches. Not thread-safe.
class cardinality_sketch {
 public:
  static constexpr std::uint32_t bitmap_count = 8192;

  cardinality_sketch() : bitmaps_(bitmap_count) {}

  void insert(const sketch_bits& bits);

  /// Estimates the number of fingerprints that were inserted: within about 2 %, but up to a quarter too high for fewer than
  /// there are bitmaps.
  [[nodiscard]] double count() const { return estimate(ones_); }
  /// Estimates how many more there would be.
  [[nodiscard]] double added_count(const sketch_bits& bits) const {
    return estimate(ones_ + added_ones(bits)) - count();
  }

 private:
  [[nodiscard]] static double estimate(std::uint64_t ones);
  [[nodiscard]] std::uint64_t added_ones(const sketch_bits& bits) const;

  std::vector<std::uint64_t> bitmaps_;
  std::uint64_t ones_ = 0;  ///< that bitmaps begin with, from the lowest bit
};

/// A view for policies, and what the policies that are only simulated ask besides. Not thread-safe.
class simulated_cluster final : public cluster_view {
 public:
  using store_maker = std::function<std::unique_ptr<node_store>()>;

  simulated_cluster(node_number node_count, const store_maker& make_store);

  std::span<const node_state> nodes() const override { return states_; }
  std::span<const std::uint64_t> class_bytes(class_number application) const override;
  void count_matches(class_number application, std::span<const std::uint64_t> handprint,
                     std::span<const node_number> candidates, std::span<std::uint32_t> counts) const override;

  /// Sets `counts[i]` to the number of fingerprints whose chunks node i has, for all nodes. Only those alive are asked.
  void count_chunks(std::span<const std::uint64_t> fingerprints, std::span<std::uint32_t> counts) const;
  /// Sets `counts[i]` to the number of different chunks that node i has of these, by an estimate from sketches, for all nodes;
  /// 0 for those that are not alive. Takes one message, to the coordinator that has the sketches. `keep_sketches` must have been
  /// called. What was estimated is stored next, in the same order.
  void estimate_chunks(std::span<const routed_chunk> chunks, std::span<std::uint32_t> counts) const;
  /// Returns the node that has the latest routing unit of a client, or nullopt if there is none.
  [[nodiscard]] std::optional<node_number> node_of_client(std::uint32_t client) const;

  /// From now on each node has a sketch of its chunks, and each routing unit is estimated before it is stored. Nothing has been
  /// stored.
  void keep_sketches() { sketches_.resize(nodes_.size()); }

  /// Stores a routing unit. `application` is its class, which the unit has only for policies that know classes. The handprint
  /// goes to the similarity index if `is_indexed`.
  void store(const routing_unit& unit, class_number application, node_number node, bool is_indexed);

  /// From now on the first `live_count` nodes are alive and the others are not. There is at least one. A node that was dead
  /// has what it had before.
  void set_live_count(node_number live_count);

  /// Returns the number of fingerprints that nodes were asked for to route, and the messages that these took.
  [[nodiscard]] std::uint64_t routing_look_ups() const noexcept { return routing_look_ups_; }
  [[nodiscard]] std::uint64_t routing_messages() const noexcept { return routing_messages_; }
  /// Returns the entries of all indexes: of those that handprints went to, or else of those that chunks are found by.
  [[nodiscard]] std::uint64_t index_entries() const;
  /// Returns how many classes a node has.
  [[nodiscard]] std::uint64_t application_count(node_number node) const;

 private:
  struct simulated_node {
    std::unique_ptr<node_store> chunks;
    fingerprint_set representatives;  ///< of all classes, each mixed with its class
  };

  std::vector<node_state> states_;
  std::vector<simulated_node> nodes_;
  std::vector<std::vector<std::uint64_t>> class_bytes_;  ///< by class, then by node
  absl::flat_hash_map<std::uint32_t, node_number> client_nodes_;
  std::vector<cardinality_sketch> sketches_;        ///< of each node, if they are kept
  mutable std::deque<sketch_bits> estimated_bits_;  ///< of the routing units that were estimated and are not stored yet
  bool has_similarity_index_ = false;
  mutable std::uint64_t routing_look_ups_ = 0;
  mutable std::uint64_t routing_messages_ = 0;
};

}  // namespace cutpoint::cluster
