#include "cluster/similarity/similarity_index.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

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

void append_handprint(std::span<const routed_chunk> chunks, std::size_t size, std::vector<std::uint64_t>& handprint) {
  assert(size > 0);
  const auto begin = static_cast<std::ptrdiff_t>(handprint.size());
  for (const routed_chunk& each : chunks) {
    const bool is_full = handprint.size() - static_cast<std::size_t>(begin) == size;
    if (is_full && each.fingerprint >= handprint.back()) continue;
    const auto place = std::lower_bound(handprint.begin() + begin, handprint.end(), each.fingerprint);
    if (place != handprint.end() && *place == each.fingerprint) continue;
    handprint.insert(place, each.fingerprint);
    if (is_full) handprint.pop_back();
  }
}

double resemblance(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second) {
  std::size_t common = 0;
  auto left = first.begin();
  auto right = second.begin();
  while (left != first.end() && right != second.end()) {
    const bool is_common = *left == *right;
    const bool is_left_smaller = *left < *right;
    common += is_common ? 1U : 0U;
    if (is_common || is_left_smaller) ++left;
    if (is_common || !is_left_smaller) ++right;
  }
  const std::size_t all = first.size() + second.size() - common;
  return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

double estimate_accuracy(std::size_t size, double real_resemblance, double error) {
  constexpr double rounding = 1e-9;  // k(r - e) may be a whole number
  const double k = static_cast<double>(size);
  double sum = 0;
  for (std::size_t common = 0; common <= size; ++common) {
    const double i = static_cast<double>(common);
    if (i < k * (real_resemblance - error) - rounding || i > k * (real_resemblance + error) + rounding) continue;
    const double combinations = std::exp(std::lgamma(k + 1) - std::lgamma(i + 1) - std::lgamma(k - i + 1));
    sum += combinations * std::pow(real_resemblance, i) * std::pow(1 - real_resemblance, k - i);
  }
  return sum;
}

container_cache::container_cache(std::size_t capacity) : capacity_(capacity) { assert(capacity > 0); }

bool container_cache::use(container_number container) {
  const auto place = places_.find(container);
  if (place == places_.end()) return false;
  containers_.splice(containers_.begin(), containers_, place->second);
  return true;
}

void container_cache::insert(container_number container, std::span<const std::uint64_t> fingerprints) {
  assert(!places_.contains(container));
  if (containers_.size() == capacity_) remove_oldest();
  containers_.push_front({container, {fingerprints.begin(), fingerprints.end()}});
  places_[container] = containers_.begin();
  for (const std::uint64_t fingerprint : fingerprints) ++container_counts_[fingerprint];
}

void container_cache::remove_oldest() {
  for (const std::uint64_t fingerprint : containers_.back().fingerprints) {
    const auto count = container_counts_.find(fingerprint);
    if (--count->second == 0) container_counts_.erase(count);
  }
  places_.erase(containers_.back().number);
  containers_.pop_back();
}

container_number container_list::begin() {
  const std::scoped_lock lock(mutex_);
  containers_.emplace_back();
  return containers_.size() - 1;
}

void container_list::close(container_number container, std::vector<std::uint64_t> fingerprints) {
  const std::scoped_lock lock(mutex_);
  assert(container < containers_.size() && !containers_[container].is_closed);
  containers_[container] = {true, std::move(fingerprints)};
}

const std::vector<std::uint64_t>* container_list::find(container_number container) const {
  const std::scoped_lock lock(mutex_);
  assert(container < containers_.size());
  const listed_container& entry = containers_[container];
  return entry.is_closed ? &entry.fingerprints : nullptr;
}

}  // namespace cutpoint::cluster
