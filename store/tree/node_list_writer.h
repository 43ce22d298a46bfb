// Writes a list of extents or of folder entries as a tree of nodes that are cut by content.
#pragma once

#include <string>
#include <vector>

#include "store/tree/node.h"

namespace cutpoint::store {

/// Stores nodes.
class node_receiver {
 public:
  virtual ~node_receiver() = default;
  /// Stores a node, unless one with its content is stored already, and returns a reference to it.
  [[nodiscard]] virtual result<record_reference> put_node(const encoded_node& node) = 0;
};

/// Forgets the nodes of a dry run.
class discarding_receiver final : public node_receiver {
 public:
  result<record_reference> put_node(const encoded_node&) override { return record_reference(); }
};

/// Nodes end after elements that their content selects, so that a change of a long list changes few nodes. Memory: one
/// node for each level. Not thread-safe.
class node_list_writer {
 public:
  /// `nodes` must outlive the writer.
  node_list_writer(node_kind kind, node_receiver& nodes) noexcept : kind_(kind), nodes_(nodes) {}

  /// Appends an element of the list: extents in the order of the file, or entries in the order of their names. Errors:
  /// those of the receiver; invalid_argument, if an entry has more attributes than fit into a node.
  [[nodiscard]] status add(const stored_extent& extent);
  [[nodiscard]] status add(const folder_entry& entry);

  /// Returns a reference to the node from which all elements are reached. An empty list has an empty node. Errors: those
  /// of the receiver.
  [[nodiscard]] result<record_reference> finish();

 private:
  struct open_level {
    node_builder builder;
    std::uint64_t bytes = 0;  ///< of the extents below
    std::string last_name;
  };

  [[nodiscard]] open_level& level_at(std::size_t level);
  [[nodiscard]] status end_element(std::size_t level, byte_span cut_key);
  [[nodiscard]] status end_node(std::size_t level);

  node_kind kind_;
  node_receiver& nodes_;
  std::vector<open_level> levels_;
};

}  // namespace cutpoint::store
