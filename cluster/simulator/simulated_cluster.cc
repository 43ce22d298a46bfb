#include "cluster/simulator/simulated_cluster.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "host/core/splitmix.h"

namespace cutpoint::cluster {

namespace {

std::uint64_t key_of_class(class_number application) { return splitmix64::mixed(application); }

}  // namespace

simulated_cluster::simulated_cluster(node_number node_count, const store_maker& make_store)
    : states_(node_count), nodes_(node_count) {
  for (simulated_node& each : nodes_) each.chunks = make_store();
}

std::span<const std::uint64_t> simulated_cluster::class_bytes(class_number application) const {
  return application < class_bytes_.size() ? std::span<const std::uint64_t>(class_bytes_[application])
                                           : std::span<const std::uint64_t>();
}

void simulated_cluster::count_matches(class_number application, std::span<const std::uint64_t> handprint,
                                      std::span<const node_number> candidates, std::span<std::uint32_t> counts) const {
  const std::uint64_t key = key_of_class(application);
  for (const node_number each : candidates) {
    for (const std::uint64_t fingerprint : handprint) nodes_[each].representatives.prefetch(fingerprint ^ key);
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const fingerprint_set& known = nodes_[candidates[i]].representatives;
    counts[i] = static_cast<std::uint32_t>(
        std::count_if(handprint.begin(), handprint.end(), [&](auto each) { return known.contains(each ^ key); }));
  }
  routing_look_ups_ += candidates.size() * handprint.size();
  routing_messages_ += candidates.size();
}

void simulated_cluster::count_chunks(std::span<const std::uint64_t> fingerprints,
                                     std::span<std::uint32_t> counts) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    counts[i] = 0;
    if (!states_[i].is_alive) continue;
    counts[i] = static_cast<std::uint32_t>(std::count_if(fingerprints.begin(), fingerprints.end(),
                                                         [&](auto each) { return nodes_[i].chunks->has_chunk(each); }));
    routing_look_ups_ += fingerprints.size();
    ++routing_messages_;
  }
}

void simulated_cluster::estimate_chunks(std::span<const routed_chunk> chunks, std::span<std::uint32_t> counts) const {
  const sketch_bits& bits = estimated_bits_.emplace_back(sketch_bits_of(chunks));
  std::vector<std::uint64_t> fingerprints;
  for (const routed_chunk& each : chunks) fingerprints.push_back(each.fingerprint);
  std::sort(fingerprints.begin(), fingerprints.end());
  const auto last = std::unique(fingerprints.begin(), fingerprints.end());
  const auto count = static_cast<double>(last - fingerprints.begin());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const double known_count = std::floor(count - sketches_[i].added_count(bits) + 0.5);
    counts[i] = states_[i].is_alive && known_count > 0 ? static_cast<std::uint32_t>(known_count) : 0;
  }
  ++routing_messages_;
}

std::optional<node_number> simulated_cluster::node_of_client(std::uint32_t client) const {
  const auto entry = client_nodes_.find(client);
  return entry == client_nodes_.end() ? std::nullopt : std::optional(entry->second);
}

void simulated_cluster::store(const routing_unit& unit, class_number application, node_number node, bool is_indexed) {
  states_[node].stored_bytes += nodes_[node].chunks->store(unit);
  if (application >= class_bytes_.size()) class_bytes_.resize(application + std::size_t{1});
  std::vector<std::uint64_t>& row = class_bytes_[application];
  row.resize(nodes_.size());
  for (const routed_chunk& each : unit.chunks) row[node] += each.length;
  client_nodes_[unit.client] = node;
  if (!sketches_.empty()) {
    sketches_[node].insert(estimated_bits_.front());
    estimated_bits_.pop_front();
  }
  if (!is_indexed) return;
  has_similarity_index_ = true;
  const std::uint64_t key = key_of_class(unit.application);
  for (const std::uint64_t each : unit.handprint) nodes_[node].representatives.insert(each ^ key);
}

void simulated_cluster::set_live_count(node_number live_count) {
  assert(live_count > 0 && live_count <= states_.size());
  for (node_number i = 0; i < states_.size(); ++i) states_[i].is_alive = i < live_count;
}

std::uint64_t simulated_cluster::index_entries() const {
  std::uint64_t count = 0;
  for (const simulated_node& each : nodes_) {
    count += has_similarity_index_ ? each.representatives.size() : each.chunks->index_entries();
  }
  return count;
}

std::uint64_t simulated_cluster::application_count(node_number node) const {
  return static_cast<std::uint64_t>(std::count_if(class_bytes_.begin(), class_bytes_.end(),
                                                  [node](const auto& row) { return !row.empty() && row[node] != 0; }));
}

sketch_bits sketch_bits_of(std::span<const routed_chunk> chunks) {
  constexpr std::uint64_t highest_bit = std::uint64_t{1} << 50;  // of the 51 that are left of a word
  sketch_bits bits;
  for (const routed_chunk& each : chunks) {
    const std::uint64_t word = splitmix64::mixed(each.fingerprint + 2 * splitmix64::step);
    const std::uint64_t rest = word / cardinality_sketch::bitmap_count | highest_bit;
    bits.emplace_back(static_cast<std::uint32_t>(word % cardinality_sketch::bitmap_count), rest & -rest);
  }
  std::sort(bits.begin(), bits.end());
  std::size_t size = 0;
  for (const auto& [bitmap, bit] : bits) {
    if (size != 0 && bits[size - 1].first == bitmap) {
      bits[size - 1].second |= bit;
    } else {
      bits[size++] = {bitmap, bit};
    }
  }
  bits.resize(size);
  return bits;
}

void cardinality_sketch::insert(const sketch_bits& bits) {
  ones_ += added_ones(bits);
  for (const auto& [bitmap, added] : bits) bitmaps_[bitmap] |= added;
}

std::uint64_t cardinality_sketch::added_ones(const sketch_bits& bits) const {
  std::uint64_t count = 0;
  for (const auto& [bitmap, added] : bits) {
    count += static_cast<std::uint64_t>(std::countr_one(bitmaps_[bitmap] | added) - std::countr_one(bitmaps_[bitmap]));
  }
  return count;
}

// With the correction for small counts of Scheuermann and Mauve (2007).
double cardinality_sketch::estimate(std::uint64_t ones) {
  constexpr double bias = 0.77351;
  constexpr double small_counts = 1.75;
  const double mean = static_cast<double>(ones) / bitmap_count;
  return bitmap_count / bias * (std::exp2(mean) - std::exp2(-small_counts * mean));
}

}  // namespace cutpoint::cluster
