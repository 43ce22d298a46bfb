// The application-aware similarity index of a node (AppDedupe, section 3.4): from the representative fingerprints of the
// super-chunks that the node has to the containers that have their chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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

}  // namespace cutpoint::cluster
