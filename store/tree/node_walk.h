// Lists of a tree, cut into nodes: writing them, and walks over the extents of a file and the entries of a folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/tree/node.h"

namespace cutpoint::store {

class node_source {
 public:
  virtual ~node_source() = default;
  /// Returns a stored node, whose content has the digest of the reference. Errors: those of the storage; damage.
  [[nodiscard]] virtual result<std::vector<std::uint8_t>> read_node(const record_reference& node) = 0;
  /// Returns a decoded node. A source that keeps nodes in memory gives the same node to many. Errors: as for `read_node`.
  [[nodiscard]] virtual result<std::shared_ptr<const decoded_node>> decode(const record_reference& node);
};

/// Reads a node, which must be of a kind and, unless it is the root of a list, of a level: a hostile store cannot make a
/// walk endless. Errors: those of `nodes`; damage.
[[nodiscard]] result<decoded_node> read_list_node(const record_reference& reference, node_kind kind,
                                                  std::optional<std::uint8_t> level, node_source& nodes);

/// Calls `visit` for each extent that overlaps the bytes `[begin, end)` of a file, with the position of the extent in the
/// file, in order. Reads only the nodes on the way. Errors: those of `nodes` and of `visit`; damage.
[[nodiscard]] status visit_extents(
    const record_reference& root, std::uint64_t begin, std::uint64_t end, node_source& nodes,
    const std::function<status(const stored_extent& extent, std::uint64_t position)>& visit);

/// Where the list of a folder has an entry.
struct entry_place {
  record_reference node = {};  ///< of level 0
  std::uint32_t number = 0;    ///< of the entry in the node, from 0
};

struct placed_entry : folder_entry {
  entry_place place = {};  ///< without a digest for the root of a tree, which is no entry
};

/// Reads the entries of a folder one after the other, in the order of names. Memory: one decoded node of each level. Not
/// thread-safe.
class folder_cursor {
 public:
  /// `nodes` must outlive the cursor.
  folder_cursor(record_reference root, node_source& nodes) : root_(root), nodes_(&nodes) {}

  /// Returns the next entry, or nullopt after the last one. Errors: those of the source; damage. After an error the next
  /// call goes on behind the node that cannot be read.
  [[nodiscard]] result<std::optional<folder_entry>> next();
  /// Returns the next entry whose name is not less than `name`; the others are passed over. Errors: as for `next`.
  [[nodiscard]] result<std::optional<folder_entry>> next_from(std::string_view name);
  /// Passes over the nodes that both cursors would read next if they are equal, without reading them. Does nothing if one
  /// of the cursors has not returned all entries of a node. Errors: as for `next`.
  [[nodiscard]] static status pass_equal_nodes(folder_cursor& a, folder_cursor& b);
  /// Frees the memory of the nodes. The next call reads them again.
  void release_nodes() noexcept { open_.clear(); }
  /// Goes, forward or back, to the first entry whose name is greater than `name`; with an empty name to the first of all.
  void go_behind(std::string_view name);
  /// Returns the place of the entry that was returned last, if `next` has been called and returned one.
  [[nodiscard]] entry_place place() const;

 private:
  struct open_node {
    record_reference reference;
    decoded_node node;
    std::size_t next = 0;  ///< index of the next child or entry
  };

  [[nodiscard]] status open(const record_reference& reference, std::optional<std::uint8_t> level,
                            std::optional<std::string_view> last_name, bool is_resumed);
  [[nodiscard]] status open_next(bool is_resumed);
  void leave_node() noexcept;
  void leave_nodes_without_rest() noexcept;
  [[nodiscard]] const child_node* next_node() const noexcept;

  record_reference root_;
  node_source* nodes_;
  std::vector<open_node> open_;  ///< from the root to a node of entries; empty before the first call
  std::string last_;             ///< the name of the last entry that was returned or passed over
  bool is_at_end_ = false;
};

/// Calls `visit` for each entry of a folder, in the order of names. Errors: as for `visit_extents`.
[[nodiscard]] status visit_entries(const record_reference& root, node_source& nodes,
                                   const std::function<status(const folder_entry& entry)>& visit);

/// Returns the entry called `name`, or nullopt. Reads one node of each level. Errors: as for `visit_extents`.
[[nodiscard]] result<std::optional<placed_entry>> find_entry(const record_reference& root, std::string_view name,
                                                             node_source& nodes);
/// Returns the entry at a place. Reads one node. Errors: as for `visit_extents`; damage, if there is no such place.
[[nodiscard]] result<folder_entry> entry_at(const entry_place& place, node_source& nodes);

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
