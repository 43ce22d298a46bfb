// Nodes that deduplicate by an index of all chunks, or of all files.
#include "cluster/simulator/node_store.h"

#include <absl/container/flat_hash_set.h>

namespace cutpoint::cluster {

namespace {

/// Inserts the fingerprints, each mixed with the same salt. Returns the bytes of those that are new.
std::uint64_t insert_chunks(fingerprint_set& known, std::span<const routed_chunk> chunks, std::uint64_t salt) {
  constexpr std::size_t prefetch_distance = 12;  // hides a miss of the cache
  std::uint64_t byte_count = 0;
  for (std::size_t i = 0; i < std::min(prefetch_distance, chunks.size()); ++i) {
    known.prefetch(chunks[i].fingerprint ^ salt);
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i + prefetch_distance < chunks.size()) known.prefetch(chunks[i + prefetch_distance].fingerprint ^ salt);
    if (known.insert(chunks[i].fingerprint ^ salt)) byte_count += chunks[i].length;
  }
  return byte_count;
}

class exact_store final : public node_store {
 public:
  std::uint64_t store(const routing_unit& unit) override { return insert_chunks(chunks_, unit.chunks, 0); }
  bool has_chunk(std::uint64_t fingerprint) const override { return chunks_.contains(fingerprint); }
  std::uint64_t index_entries() const override { return chunks_.size(); }

 private:
  fingerprint_set chunks_;
};

class plain_store final : public node_store {
 public:
  std::uint64_t store(const routing_unit& unit) override {
    std::uint64_t byte_count = 0;
    for (const routed_chunk& each : unit.chunks) byte_count += each.length;
    return byte_count;
  }
  bool has_chunk(std::uint64_t) const override { return false; }
  std::uint64_t index_entries() const override { return 0; }
};

class binned_store final : public node_store {
 public:
  std::uint64_t store(const routing_unit& unit) override {
    const std::uint64_t bin = unit.handprint.front();
    bins_.insert(bin);
    return insert_chunks(chunks_of_bins_, unit.chunks, splitmix64::mixed(bin + splitmix64::step));
  }
  bool has_chunk(std::uint64_t) const override { return false; }  // a chunk is found by its file's bin only
  std::uint64_t index_entries() const override { return bins_.size(); }

 private:
  fingerprint_set bins_;
  fingerprint_set chunks_of_bins_;  ///< fingerprints mixed with that of their bin
};

}  // namespace

std::unique_ptr<node_store> make_exact_store() { return std::make_unique<exact_store>(); }

std::unique_ptr<node_store> make_plain_store() { return std::make_unique<plain_store>(); }

std::unique_ptr<node_store> make_binned_store() { return std::make_unique<binned_store>(); }

// A node that finds chunks only in the containers that its similarity index leads to.

namespace {

class container_store final : public node_store {
 public:
  container_store(const container_store_options& options, std::shared_ptr<shared_containers> shared)
      : container_bytes_(options.container_bytes),
        shared_(std::move(shared)),
        cache_(options.cached_containers),
        open_(shared_->containers.begin()) {}

  std::uint64_t store(const routing_unit& unit) override {
    fetch_containers(unit);
    const container_number first_new = open_;
    std::uint64_t byte_count = 0;
    for (const routed_chunk& each : unit.chunks) {
      if (has_chunk(each.fingerprint)) continue;
      open_set_.insert(each.fingerprint);
      open_fingerprints_.push_back(each.fingerprint);
      open_bytes_ += each.length;
      byte_count += each.length;
      if (open_bytes_ >= container_bytes_) close_container();
    }
    shared_->index.insert(unit.application, unit.handprint, first_new);
    return byte_count;
  }

  bool has_chunk(std::uint64_t fingerprint) const override {
    return open_set_.contains(fingerprint) || cache_.contains(fingerprint);
  }

  std::uint64_t index_entries() const override { return shared_->index.size(); }

 private:
  void fetch_containers(const routing_unit& unit) {
    similar_containers_.clear();
    shared_->index.append_containers(unit.application, unit.handprint, similar_containers_);
    for (const container_number each : similar_containers_) {
      if (cache_.use(each)) continue;
      const std::vector<std::uint64_t>* const fingerprints = shared_->containers.find(each);
      if (fingerprints != nullptr) cache_.insert(each, *fingerprints);  // else it is open, here or in another stream
    }
  }

  /// A full container stays in the cache, because what follows often resembles it.
  void close_container() {
    cache_.insert(open_, open_fingerprints_);
    shared_->containers.close(open_, std::exchange(open_fingerprints_, {}));
    open_ = shared_->containers.begin();
    open_set_.clear();
    open_bytes_ = 0;
  }

  std::uint64_t container_bytes_;
  std::shared_ptr<shared_containers> shared_;
  container_cache cache_;
  std::vector<container_number> similar_containers_;
  container_number open_;  ///< which is being filled
  std::vector<std::uint64_t> open_fingerprints_;
  absl::flat_hash_set<std::uint64_t> open_set_;  ///< the same fingerprints
  std::uint64_t open_bytes_ = 0;
};

}  // namespace

std::unique_ptr<node_store> make_container_store(const container_store_options& options,
                                                 std::shared_ptr<shared_containers> shared) {
  return std::make_unique<container_store>(options, std::move(shared));
}

}  // namespace cutpoint::cluster
