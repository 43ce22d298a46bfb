// The policies that can be simulated, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cluster/simulator/simulated_policies.h"

namespace cutpoint::cluster {

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
