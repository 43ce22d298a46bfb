// Policies by name, and those that are simulated and not shipped. EMC's are patented (US 8,751,448 and others).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cluster/routing/policies.h"
#include "cluster/simulator/simulated_cluster.h"

namespace cutpoint::cluster {

/// EMC's stateless routing: a super-chunk goes where its smallest fingerprint belongs.
[[nodiscard]] std::unique_ptr<routing_policy> make_emc_stateless(const routing_options& options);

/// EMC's stateful routing: all nodes are asked for an eighth of the chunks. Among those that are not overloaded, the node
/// with the most matches for its load gets the super-chunk. If none has a match, the stateless one gets it, unless it is
/// overloaded; then the least loaded does. The cluster must outlive the policy.
[[nodiscard]] std::unique_ptr<routing_policy> make_emc_stateful(const routing_options& options,
                                                                const simulated_cluster& cluster);

/// Content-aware load balancing (CALB): a client stays on its node until that has more than twice the mean load. Then, and
/// at first, it goes to the node with the most matches among those below, as in stateful routing. The cluster must outlive
/// the policy.
[[nodiscard]] std::unique_ptr<routing_policy> make_calb(const simulated_cluster& cluster);

/// Produck: a coordinator estimates from sketches how many of the chunks each node has. Otherwise as EMC's stateful routing: the
/// most matches for the load among the nodes that are not overloaded, or the least loaded one if no node has a match. The
/// cluster must keep sketches and outlive the policy.
[[nodiscard]] std::unique_ptr<routing_policy> make_produck(const routing_options& options,
                                                           const simulated_cluster& cluster);

/// Extreme Binning: a file goes where its smallest fingerprint belongs.
[[nodiscard]] std::unique_ptr<routing_policy> make_extreme_binning(const routing_options& options);

// The policies that can be simulated, by name.

struct simulated_policy {
  std::string_view name;
  std::unique_ptr<routing_policy> (*make)(const routing_options& options, const simulated_cluster& cluster);
  bool deduplicates_in_bins = false;  ///< whether a node compares a file with those of its bin only
  bool needs_sketches = false;        ///< whether the policy asks for estimates of matches
  /// Memory of an entry in the index of a node, as section 4.3 counts it: 40 bytes in a similarity index and in one of chunks.
  std::uint32_t index_entry_bytes = 40;
};

/// Returns the policy, or null if there is none of this name.
[[nodiscard]] const simulated_policy* find_policy(std::string_view name);

}  // namespace cutpoint::cluster
