// A node that finds chunks only in the containers that its similarity index leads to.
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "cluster/similarity/container_cache.h"
#include "cluster/similarity/similarity_index.h"
#include "cluster/simulator/node_store.h"

namespace cutpoint::cluster {

namespace {

class container_store final : public node_store {
 public:
  explicit container_store(const container_store_options& options)
      : container_bytes_(options.container_bytes),
        index_({.class_count = options.class_count, .lock_count = 1}),
        cache_(options.cached_containers) {}

  std::uint64_t store(const routing_unit& unit) override {
    fetch_containers(unit);
    const container_number first_new = containers_.size();
    std::uint64_t byte_count = 0;
    for (const routed_chunk& each : unit.chunks) {
      if (has_chunk(each.fingerprint)) continue;
      open_.insert(each.fingerprint);
      open_fingerprints_.push_back(each.fingerprint);
      open_bytes_ += each.length;
      byte_count += each.length;
      if (open_bytes_ >= container_bytes_) close_container();
    }
    index_.insert(unit.application, unit.handprint, first_new);
    return byte_count;
  }

  bool has_chunk(std::uint64_t fingerprint) const override {
    return open_.contains(fingerprint) || cache_.contains(fingerprint);
  }

  std::uint64_t index_entries() const override { return index_.size(); }

 private:
  void fetch_containers(const routing_unit& unit) {
    similar_containers_.clear();
    index_.append_containers(unit.application, unit.handprint, similar_containers_);
    for (const container_number each : similar_containers_) {
      if (each == containers_.size()) continue;  // the open one
      if (!cache_.use(each)) cache_.insert(each, containers_[each]);
    }
  }

  /// A full container stays in the cache, because what follows often resembles it.
  void close_container() {
    cache_.insert(containers_.size(), open_fingerprints_);
    containers_.push_back(std::exchange(open_fingerprints_, {}));
    open_.clear();
    open_bytes_ = 0;
  }

  std::uint64_t container_bytes_;
  similarity_index index_;
  container_cache cache_;
  std::vector<std::vector<std::uint64_t>> containers_;  ///< the fingerprints of each, as in its metadata section
  std::vector<container_number> similar_containers_;
  std::vector<std::uint64_t> open_fingerprints_;  ///< of the container `containers_.size()`, which is being filled
  absl::flat_hash_set<std::uint64_t> open_;
  std::uint64_t open_bytes_ = 0;
};

}  // namespace

std::unique_ptr<node_store> make_container_store(const container_store_options& options) {
  return std::make_unique<container_store>(options);
}

}  // namespace cutpoint::cluster
