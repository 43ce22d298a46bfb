#include "store/tree/node_walk.h"

#include <algorithm>

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

status wrong_node(const record_reference& node) {
  return damage(fmt::format("the node {}", to_hex(node.content)),
                "it has another kind, level or order than its parent says");
}

/// Reads a node, which must be of a kind and, below the root, of a level: a hostile store cannot make a walk endless.
result<decoded_node> read(const record_reference& reference, node_kind kind, std::optional<std::uint8_t> level,
                          node_source& nodes) {
  const auto bytes = nodes.read_node(reference);
  if (!bytes) return bytes.error();
  auto node = decode_node(*bytes, reference.content.size);
  if (!node || node->kind != kind || (level && node->level != *level)) return wrong_node(reference);
  return std::move(*node);
}

class extent_walk {
 public:
  extent_walk(std::uint64_t begin, std::uint64_t end, node_source& nodes,
              const std::function<status(const stored_extent&, std::uint64_t)>& visit)
      : begin_(begin), end_(end), nodes_(nodes), visit_(visit) {}

  status walk(const record_reference& reference, std::optional<std::uint8_t> level) {
    const auto node = read(reference, node_kind::extents, level, nodes_);
    if (!node) return node.error();
    for (const stored_extent& each : node->extents) {
      if (position_ < end_ && position_ + each.bytes() > begin_) {
        if (status visited = visit_(each, position_); !visited.ok()) return visited;
      }
      if (!advance(each.bytes())) return wrong_node(reference);
    }
    for (const child_node& each : node->children) {
      const std::uint64_t next = position_ + each.bytes;
      if (position_ < end_ && next > begin_) {
        const status walked = walk(each.node, static_cast<std::uint8_t>(node->level - 1));
        if (!walked.ok()) return walked;
        if (position_ != next) return wrong_node(each.node);
      } else if (!advance(each.bytes)) {
        return wrong_node(reference);
      }
    }
    return {};
  }

 private:
  /// Returns false if the file would be longer than any can be.
  bool advance(std::uint64_t bytes) {
    position_ += bytes;
    return position_ <= std::uint64_t{1} << 62;
  }

  std::uint64_t begin_;
  std::uint64_t end_;
  node_source& nodes_;
  const std::function<status(const stored_extent&, std::uint64_t)>& visit_;
  std::uint64_t position_ = 0;
};

}  // namespace

status visit_extents(const record_reference& root, std::uint64_t begin, std::uint64_t end, node_source& nodes,
                     const std::function<status(const stored_extent&, std::uint64_t)>& visit) {
  return extent_walk(begin, end, nodes, visit).walk(root, std::nullopt);
}

/// Opens a node. Names that are not above `last_` are passed over if the nodes were released, and are damage otherwise.
status folder_cursor::open(const record_reference& reference, std::optional<std::uint8_t> level, bool is_resumed) {
  auto node = read(reference, node_kind::folder, level, *nodes_);
  if (!node) return node.error();
  const auto after = [&](const auto& list, auto name) {
    return static_cast<std::size_t>(std::ranges::upper_bound(list, last_, {}, name) - list.begin());
  };
  const std::size_t next =
      node->level == 0 ? after(node->entries, &folder_entry::name) : after(node->children, &child_node::last_name);
  if (next != 0 && !is_resumed) return wrong_node(reference);
  open_.push_back({std::move(*node), next});
  return {};
}

result<std::optional<folder_entry>> folder_cursor::next() {
  if (is_at_end_) return std::optional<folder_entry>();
  bool is_resumed = open_.empty();
  if (is_resumed) {
    if (status opened = open(root_, std::nullopt, is_resumed); !opened.ok()) {
      is_at_end_ = true;
      return opened;
    }
  }
  for (;;) {
    open_node& here = open_.back();
    if (here.node.level == 0 && here.next < here.node.entries.size()) {
      folder_entry& found = here.node.entries[here.next++];
      last_ = found.name;
      return std::optional(std::move(found));
    }
    if (here.node.level != 0 && here.next < here.node.children.size()) {
      const child_node child = here.node.children[here.next];
      status opened = open(child.node, static_cast<std::uint8_t>(here.node.level - 1), is_resumed);
      if (opened.ok()) continue;
      ++here.next;
      last_ = child.last_name;
      return opened;
    }
    is_resumed = false;
    open_.pop_back();
    if (open_.empty()) {
      is_at_end_ = true;
      return std::optional<folder_entry>();
    }
    const child_node& left = open_.back().node.children[open_.back().next++];
    if (last_ != left.last_name) {
      last_ = left.last_name;
      return wrong_node(left.node);
    }
  }
}

result<std::optional<folder_entry>> folder_cursor::next_from(std::string_view name) {
  for (;;) {
    // Most names are found in the node that is open.
    if (!open_.empty() && open_.back().node.level == 0) {
      open_node& here = open_.back();
      const auto begin = here.node.entries.begin() + static_cast<std::ptrdiff_t>(here.next);
      const auto found = std::ranges::lower_bound(begin, here.node.entries.end(), name, {}, &folder_entry::name);
      if (found != begin) last_ = std::prev(found)->name;
      here.next = static_cast<std::size_t>(found - here.node.entries.begin());
    }
    auto entry = next();
    if (!entry || !*entry || (**entry).name >= name) return entry;
  }
}

status visit_entries(const record_reference& root, node_source& nodes,
                     const std::function<status(const folder_entry&)>& visit) {
  folder_cursor entries(root, nodes);
  for (;;) {
    const auto entry = entries.next();
    if (!entry) return entry.error();
    if (!*entry) return {};
    if (status visited = visit(**entry); !visited.ok()) return visited;
  }
}

result<std::optional<folder_entry>> find_entry(const record_reference& root, std::string_view name,
                                               node_source& nodes) {
  record_reference at = root;
  std::optional<std::uint8_t> level;
  for (;;) {
    auto node = read(at, node_kind::folder, level, nodes);
    if (!node) return node.error();
    if (node->level == 0) {
      const auto found = std::ranges::lower_bound(node->entries, name, {}, &folder_entry::name);
      if (found == node->entries.end() || found->name != name) return std::optional<folder_entry>();
      return std::optional(std::move(*found));
    }
    const auto child = std::ranges::lower_bound(node->children, name, {}, &child_node::last_name);
    if (child == node->children.end()) return std::optional<folder_entry>();
    at = child->node;
    level = static_cast<std::uint8_t>(node->level - 1);
  }
}

}  // namespace cutpoint::store
