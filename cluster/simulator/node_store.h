// How a simulated node deduplicates what is routed to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cluster/routing/policy.h"
#include "cluster/similarity/container_list.h"
#include "cluster/similarity/similarity_index.h"

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
};

/// What the streams of a node of AppDedupe share. Thread-safe.
struct shared_containers {
  explicit shared_containers(const similarity_index::options& configuration) : index(configuration) {}

  similarity_index index;
  container_list containers;
};

/// One stream of a node of AppDedupe: the similarity index leads from a handprint to containers, which are fetched into the
/// stream's cache, and a chunk is found only there and in the container that the stream is filling. A duplicate elsewhere is
/// stored again. Streams of one node may store at once, each on a thread of its own.
[[nodiscard]] std::unique_ptr<node_store> make_container_store(const container_store_options& options,
                                                               std::shared_ptr<shared_containers> shared);

}  // namespace cutpoint::cluster
