#include "cluster/similarity/container_list.h"

#include <cassert>
#include <utility>

namespace cutpoint::cluster {

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
