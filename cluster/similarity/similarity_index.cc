#include "cluster/similarity/similarity_index.h"

#include <algorithm>
#include <cassert>
#include <mutex>

#include <absl/container/flat_hash_map.h>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

struct similarity_index::shard {
  using map = absl::flat_hash_map<std::uint64_t, container_number>;
  /// A slot has an entry and a byte of control, and at least 7 of 16 slots are full: 39 bytes for each entry at most.
  static constexpr std::uint64_t slot_bytes = sizeof(map::value_type) + 1;

  mutable std::mutex mutex;
  map containers;
};

similarity_index::similarity_index(const options& configuration)
    : class_count_(configuration.class_count),
      lock_count_(configuration.lock_count),
      shards_(std::make_unique<shard[]>(class_count_ * lock_count_)) {
  assert(class_count_ > 0 && lock_count_ > 0);
}

similarity_index::~similarity_index() = default;

similarity_index::shard& similarity_index::shard_of(class_number application, std::uint64_t fingerprint) const {
  assert(application < class_count_);
  // The smallest fingerprints are alike in their first bits.
  return shards_[application * lock_count_ + splitmix64::mixed(fingerprint) % lock_count_];
}

std::size_t similarity_index::count_matches(class_number application, std::span<const std::uint64_t> handprint) const {
  std::size_t count = 0;
  for (const std::uint64_t fingerprint : handprint) {
    const shard& home = shard_of(application, fingerprint);
    const std::scoped_lock lock(home.mutex);
    count += home.containers.count(fingerprint);
  }
  return count;
}

void similarity_index::append_containers(class_number application, std::span<const std::uint64_t> handprint,
                                         std::vector<container_number>& containers) const {
  const auto begin = static_cast<std::ptrdiff_t>(containers.size());
  for (const std::uint64_t fingerprint : handprint) {
    const shard& home = shard_of(application, fingerprint);
    const std::scoped_lock lock(home.mutex);
    const auto entry = home.containers.find(fingerprint);
    if (entry == home.containers.end()) continue;
    if (std::find(containers.begin() + begin, containers.end(), entry->second) == containers.end()) {
      containers.push_back(entry->second);
    }
  }
}

void similarity_index::insert(class_number application, std::span<const std::uint64_t> handprint,
                              container_number container) {
  for (const std::uint64_t fingerprint : handprint) {
    shard& home = shard_of(application, fingerprint);
    const std::scoped_lock lock(home.mutex);
    home.containers.try_emplace(fingerprint, container);
  }
}

std::uint64_t similarity_index::size() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < class_count_ * lock_count_; ++i) {
    const std::scoped_lock lock(shards_[i].mutex);
    count += shards_[i].containers.size();
  }
  return count;
}

std::uint64_t similarity_index::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < class_count_ * lock_count_; ++i) {
    const std::scoped_lock lock(shards_[i].mutex);
    bytes += shards_[i].containers.capacity() * shard::slot_bytes;
  }
  return bytes;
}

}  // namespace cutpoint::cluster
