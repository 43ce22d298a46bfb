// What a routing decision sees of the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cutpoint/cluster/routed_chunk.h>

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
