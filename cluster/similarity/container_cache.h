// The fingerprints of the containers that a node has used last (AppDedupe, section 3.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "cluster/similarity/similarity_index.h"

namespace cutpoint::cluster {

/// A cache of whole containers, of which the least recently used leaves first. Not thread-safe: each stream has its own.
class container_cache {
 public:
  /// `capacity` is in containers, at least 1.
  explicit container_cache(std::size_t capacity);

  /// Makes a container the most recently used and returns true, or returns false if the cache does not have it.
  [[nodiscard]] bool use(container_number container);

  /// Adds a container that the cache does not have, as the most recently used. If the cache is full, the least recently
  /// used one leaves.
  void insert(container_number container, std::span<const std::uint64_t> fingerprints);

  /// Returns whether a container of the cache has the fingerprint.
  [[nodiscard]] bool contains(std::uint64_t fingerprint) const { return container_counts_.contains(fingerprint); }

  /// Returns the number of containers.
  [[nodiscard]] std::size_t size() const { return places_.size(); }

 private:
  struct cached_container {
    container_number number;
    std::vector<std::uint64_t> fingerprints;
  };

  void remove_oldest();

  std::size_t capacity_;
  std::list<cached_container> containers_;  ///< the most recently used first
  absl::flat_hash_map<container_number, std::list<cached_container>::iterator> places_;
  absl::flat_hash_map<std::uint64_t, std::uint32_t> container_counts_;  ///< in how many entries a fingerprint is
};

}  // namespace cutpoint::cluster
