// Nodes that deduplicate by an index of all chunks, or of all files.
#include "cluster/simulator/node_store.h"

#include <algorithm>

#include "cluster/simulator/fingerprint_set.h"

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

}  // namespace cutpoint::cluster
