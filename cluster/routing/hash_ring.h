// Consistent hashing: which node a fingerprint belongs to, so that few fingerprints move when nodes come and go.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cutpoint/cluster/routed_chunk.h>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
