// How a simulated node deduplicates what is routed to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cluster/routing/policy.h"

namespace cutpoint::cluster {

/// The chunks of one node. Not thread-safe.
class node_store {
 public:
  virtual ~node_store() = default;

  /// Stores the chunks of a routing unit that the node does not find. Returns the bytes stored.
  virtual std::uint64_t store(const routing_unit& unit) = 0;
  /// Returns whether the node finds a chunk when it is asked for the chunk alone.
  [[nodiscard]] virtual bool has_chunk(std::uint64_t fingerprint) const = 0;
  /// Returns the number of entries in the index by which the node deduplicates.
  [[nodiscard]] virtual std::uint64_t index_entries() const = 0;
};

/// A node that finds every chunk it has, by an index of them.
[[nodiscard]] std::unique_ptr<node_store> make_exact_store();

/// A node of Extreme Binning: a file is compared only with those files that have the same smallest fingerprint. They are a
/// bin, and the index has an entry for each.
[[nodiscard]] std::unique_ptr<node_store> make_binned_store();

/// A node that stores all that is routed to it, duplicates included.
[[nodiscard]] std::unique_ptr<node_store> make_plain_store();

struct container_store_options {
  std::uint64_t container_bytes;
  std::size_t cached_containers;
  std::size_t class_count;
};

/// A node of AppDedupe: the similarity index leads from a handprint to containers, which are fetched into the cache, and a
/// chunk is found only there and in the container that is being filled. A duplicate elsewhere is stored again.
[[nodiscard]] std::unique_ptr<node_store> make_container_store(const container_store_options& options);

}  // namespace cutpoint::cluster
