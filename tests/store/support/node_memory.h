// Nodes in memory, for tests of trees.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/format/failure.h"
#include "store/tree/node_walk.h"
#include "tests/host/support/choices.h"
#include "tests/store/support/containers.h"

namespace cutpoint::tests {

/// Nodes in memory, by their digests.
class node_memory final : public store::node_receiver, public store::node_source {
 public:
  result<store::record_reference> put_node(const store::encoded_node& node) override {
    EXPECT_LE(node.content_bytes, store::largest_node_bytes);
    const digest name = digest_of(node.content());
    nodes_[to_hex(name)] = node.bytes;
    return store::record_reference{name, static_cast<std::uint32_t>(node.content_bytes), 5};
  }
  result<std::vector<std::uint8_t>> read_node(const store::record_reference& node) override {
    ++reads;
    const auto position = nodes_.find(to_hex(node.content));
    if (position == nodes_.end()) return store::damage("a node", "it is absent");
    return position->second;
  }
  /// Loses a node.
  void erase(const store::record_reference& node) { nodes_.erase(to_hex(node.content)); }
  [[nodiscard]] const std::map<std::string, std::vector<std::uint8_t>>& nodes() const { return nodes_; }

  int reads = 0;

 private:
  std::map<std::string, std::vector<std::uint8_t>> nodes_;
};

inline store::record_reference drawn_reference(choices& random) {
  store::record_reference reference;
  for (std::uint8_t& each : reference.content.bytes) each = static_cast<std::uint8_t>(random.word());
  reference.content.size = 32;
  reference.raw_bytes = static_cast<std::uint32_t>(random.between(1, 100'000));
  reference.hint = random.between(1, 5);
  return reference;
}

}  // namespace cutpoint::tests
