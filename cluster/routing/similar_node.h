// Algorithm 2: the node that has most of what a super-chunk resembles, for its load.
#pragma once

#include <vector>

#include "cluster/routing/hash_ring.h"
#include "cluster/routing/policy.h"

namespace cutpoint::cluster {

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
