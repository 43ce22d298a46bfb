#include "cluster/routing/hash_ring.h"

#include <algorithm>
#include <tuple>

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
