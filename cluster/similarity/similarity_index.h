// The application-aware similarity index of a node (AppDedupe, section 3.4): from the representative fingerprints of the
// super-chunks that the node has to the containers that have their chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <cutpoint/cluster/routed_chunk.h>

namespace cutpoint::cluster {

/// The number of a container within its node.
using container_number = std::uint64_t;

/// A table for each application class. Each table is divided into shards by the fingerprints' hash, and each shard has a
/// lock, so that many streams use the index at once. An entry costs at most 40 bytes, and the locks come on top.
///
/// The index is derived data: it is rebuilt by inserting the handprints of the super-chunks in each container, from the
/// oldest container to the newest. Thread-safe.
class similarity_index {
 public:
  struct options {
    /// Classes are numbered from 0 to `class_count - 1`. At least 1.
    std::size_t class_count = 1;
    /// Locks, and shards, of each class, at least 1. More let more streams go on at once; 1 is one lock for each class,
    /// as section 4.3 has it.
    std::size_t lock_count = 64;
  };

  explicit similarity_index(const options& configuration);
  ~similarity_index();
  similarity_index(const similarity_index&) = delete;
  similarity_index& operator=(const similarity_index&) = delete;

  /// Returns how many fingerprints of a handprint the class has. `class_number` is one of the classes.
  [[nodiscard]] std::size_t count_matches(class_number application, std::span<const std::uint64_t> handprint) const;

  /// Appends the containers of the fingerprints that the class has: each once, in the order of the handprint.
  void append_containers(class_number application, std::span<const std::uint64_t> handprint,
                         std::vector<container_number>& containers) const;

  /// Inserts a handprint. A fingerprint that is there already keeps its container, which is the one that has its chunk.
  void insert(class_number application, std::span<const std::uint64_t> handprint, container_number container);

  /// Returns the number of fingerprints in all classes.
  [[nodiscard]] std::uint64_t size() const;
  /// Returns the bytes of memory that the tables take, without the locks.
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  struct shard;

  [[nodiscard]] shard& shard_of(class_number application, std::uint64_t fingerprint) const;

  std::size_t class_count_;
  std::size_t lock_count_;
  std::unique_ptr<shard[]> shards_;  ///< those of class 0, then those of class 1, and so on
};

// Handprints: the smallest fingerprints of a super-chunk, by which similar super-chunks are recognised (AppDedupe, section
// 2.3). And the two formulas of that section that say how well.

/// Appends the `size` smallest different fingerprints of the chunks in ascending order, or all of them if there are
/// fewer. `size` is at least 1.
void append_handprint(std::span<const routed_chunk> chunks, std::size_t size, std::vector<std::uint64_t>& handprint);

/// Returns the share of fingerprints that two ascending lists have in common, of all that either has: equation 1 for all
/// fingerprints of two super-chunks, equation 5 for their handprints. Two empty lists have the resemblance 1.
[[nodiscard]] double resemblance(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second);

/// Returns the probability that a handprint of `size` fingerprints estimates a resemblance to within `error`, by equation
/// 6, which takes the number of common fingerprints for binomial. `real_resemblance` lies between 0 and 1.
[[nodiscard]] double estimate_accuracy(std::size_t size, double real_resemblance, double error);

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

/// The fingerprints of each container, as in its metadata section. A container is filled by one stream and can be read by all
/// when it is closed. Thread-safe.
class container_list {
 public:
  /// Returns the number of a new container, which is open: 0 for the first one, and so on.
  [[nodiscard]] container_number begin();

  /// Closes an open container, which has these fingerprints.
  void close(container_number container, std::vector<std::uint64_t> fingerprints);

  /// Returns the fingerprints of a container that was begun, or null if it is open. They do not change and live as long as the
  /// list.
  [[nodiscard]] const std::vector<std::uint64_t>* find(container_number container) const;

 private:
  struct listed_container {
    bool is_closed = false;
    std::vector<std::uint64_t> fingerprints;
  };

  mutable std::mutex mutex_;
  std::deque<listed_container> containers_;  ///< does not move what it has
};

}  // namespace cutpoint::cluster
