// Algorithm 1: the nodes that an application class is stored on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/routing/cluster_view.h"

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
