#include "cluster/routing/application_nodes.h"

#include <cassert>
#include <optional>

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
