// How a simulated node deduplicates what is routed to it, by sets of fingerprints or by containers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/routing/policies.h"
#include "cluster/similarity/similarity_index.h"
#include "host/core/splitmix.h"

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

/// A hash table with linear probing. It grows by half, so that between one half and three quarters of the slots are full:
/// 10.7 to 16 bytes for each fingerprint, from a few on. At most 2^32 slots. Not thread-safe.
class fingerprint_set {
 public:
  /// Inserts a fingerprint and returns whether the set did not have it.
  bool insert(std::uint64_t fingerprint) {
    if (fingerprint == empty) return !std::exchange(has_empty_, true);
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    const std::size_t i = find(fingerprint);
    if (slots_[i] == fingerprint) return false;
    slots_[i] = fingerprint;
    ++count_;
    return true;
  }

  [[nodiscard]] bool contains(std::uint64_t fingerprint) const {
    if (fingerprint == empty) return has_empty_;
    return !slots_.empty() && slots_[find(fingerprint)] == fingerprint;
  }

  /// Loads into the cache what a look-up of the fingerprint needs.
  void prefetch(std::uint64_t fingerprint) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[home(fingerprint)]);
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return count_ + (has_empty_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return slots_.size() * sizeof(std::uint64_t); }

 private:
  static constexpr std::size_t least_slots = 8;
  static constexpr std::uint64_t empty = 0;  // marks a slot; the fingerprint 0 is a flag

  [[nodiscard]] std::size_t home(std::uint64_t fingerprint) const {
    // Not the hash that the ring has, or the fingerprints of a node would crowd on a few arcs of the table too.
    return (splitmix64::mixed(fingerprint + splitmix64::step) >> 32) * slots_.size() >> 32;
  }
  /// Returns the slot that has the fingerprint, or the empty one that it would get.
  [[nodiscard]] std::size_t find(std::uint64_t fingerprint) const {
    std::size_t i = home(fingerprint);
    while (slots_[i] != fingerprint && slots_[i] != empty) i = i + 1 == slots_.size() ? 0 : i + 1;
    return i;
  }

  void grow() {
    const std::vector<std::uint64_t> old =
        std::exchange(slots_, std::vector<std::uint64_t>(std::max(least_slots, slots_.size() + slots_.size() / 2)));
    for (const std::uint64_t each : old) {
      if (each != empty) slots_[find(each)] = each;
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t count_ = 0;  ///< full slots
  bool has_empty_ = false;
};

}  // namespace cutpoint::cluster
