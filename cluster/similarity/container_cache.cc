#include "cluster/similarity/container_cache.h"

#include <cassert>

namespace cutpoint::cluster {

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

}  // namespace cutpoint::cluster
