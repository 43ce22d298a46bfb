#include "store/tree/node_walk.h"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>
#include <xxhash.h>

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

status wrong_node(const record_reference& node) {
  return damage(fmt::format("the node {}", to_hex(node.content)),
                "it has another kind, level or order than its parent says");
}

/// A node must be of a kind and, below the root, of a level: a hostile store cannot make a walk endless.
bool is_expected(const decoded_node& node, node_kind kind, std::optional<std::uint8_t> level) noexcept {
  return node.kind == kind && (!level || node.level == *level);
}

result<std::shared_ptr<const decoded_node>> share(const record_reference& reference, node_kind kind,
                                                  std::optional<std::uint8_t> level, node_source& nodes) {
  auto node = nodes.decode(reference);
  return !node || is_expected(**node, kind, level) ? std::move(node) : wrong_node(reference);
}

class extent_walk {
 public:
  extent_walk(std::uint64_t begin, std::uint64_t end, node_source& nodes,
              const std::function<status(const stored_extent&, std::uint64_t)>& visit)
      : begin_(begin), end_(end), nodes_(nodes), visit_(visit) {}

  status walk(const record_reference& reference, std::optional<std::uint8_t> level) {
    CUTPOINT_TRY(const auto shared, share(reference, node_kind::extents, level, nodes_));
    const decoded_node* const node = shared.get();
    for (const stored_extent& each : node->extents) {
      if (position_ < end_ && position_ + each.bytes() > begin_) CUTPOINT_RETURN_IF_FAILED(visit_(each, position_));
      if (!advance(each.bytes())) return wrong_node(reference);
    }
    for (const child_node& each : node->children) {
      const std::uint64_t next = position_ + each.bytes;
      if (position_ < end_ && next > begin_) {
        CUTPOINT_RETURN_IF_FAILED(walk(each.node, static_cast<std::uint8_t>(node->level - 1)));
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
    return position_ <= largest_file_bytes;
  }

  std::uint64_t begin_;
  std::uint64_t end_;
  node_source& nodes_;
  const std::function<status(const stored_extent&, std::uint64_t)>& visit_;
  std::uint64_t position_ = 0;
};

}  // namespace

result<std::shared_ptr<const decoded_node>> node_source::decode(const record_reference& node) {
  CUTPOINT_TRY(const auto bytes, read_node(node));
  CUTPOINT_TRY(auto decoded, decode_node(bytes, node.content));
  return std::make_shared<const decoded_node>(std::move(decoded));
}

result<decoded_node> read_list_node(const record_reference& reference, node_kind kind,
                                    std::optional<std::uint8_t> level, node_source& nodes) {
  CUTPOINT_TRY(const auto bytes, nodes.read_node(reference));
  auto node = decode_node(bytes, reference.content);
  return !node || is_expected(*node, kind, level) ? std::move(node) : wrong_node(reference);
}

status visit_extents(const record_reference& root, std::uint64_t begin, std::uint64_t end, node_source& nodes,
                     const std::function<status(const stored_extent&, std::uint64_t)>& visit) {
  return extent_walk(begin, end, nodes, visit).walk(root, std::nullopt);
}

/// Opens a node, which must end with the name that its parent says: so names increase, and a name comes once. Names that
/// are not above `last_` are passed over if the nodes were released, and are damage otherwise.
status folder_cursor::open(const record_reference& reference, std::optional<std::uint8_t> level,
                           std::optional<std::string_view> last_name, bool is_resumed) {
  CUTPOINT_TRY(auto node, read_list_node(reference, node_kind::folder, level, *nodes_));
  const auto ends_as_said = [&](const auto& list, auto name) {
    return !last_name || (!list.empty() && std::invoke(name, list.back()) == *last_name);
  };
  const bool is_right = node.level == 0 ? ends_as_said(node.entries, &folder_entry::name)
                                        : ends_as_said(node.children, &child_node::last_name);
  if (!is_right) return wrong_node(reference);
  const auto after = [&](const auto& list, auto name) {
    return static_cast<std::size_t>(std::ranges::upper_bound(list, last_, {}, name) - list.begin());
  };
  const std::size_t next =
      node.level == 0 ? after(node.entries, &folder_entry::name) : after(node.children, &child_node::last_name);
  if (next != 0 && !is_resumed) return wrong_node(reference);
  open_.push_back({reference, std::move(node), next});
  return {};
}

/// Opens the next child of the open node. If it cannot be opened, it is passed over.
status folder_cursor::open_next(bool is_resumed) {
  const child_node child = open_.back().node.children[open_.back().next];
  const auto level = static_cast<std::uint8_t>(open_.back().node.level - 1);
  status outcome = open(child.node, level, child.last_name, is_resumed);
  if (outcome.ok()) return outcome;
  ++open_.back().next;
  last_ = child.last_name;
  return outcome;
}

/// Closes the open node, of which nothing is left.
void folder_cursor::leave_node() noexcept {
  open_.pop_back();
  if (open_.empty()) {
    is_at_end_ = true;
  } else {
    ++open_.back().next;
  }
}

result<std::optional<folder_entry>> folder_cursor::next() {
  if (is_at_end_) return std::optional<folder_entry>();
  bool is_resumed = open_.empty();
  if (is_resumed) {
    if (status outcome = open(root_, std::nullopt, std::nullopt, is_resumed); !outcome.ok()) {
      is_at_end_ = true;
      return outcome;
    }
  }
  while (!open_.empty()) {
    open_node& here = open_.back();
    if (here.node.level == 0 && here.next < here.node.entries.size()) {
      folder_entry& entry = here.node.entries[here.next++];
      last_ = entry.name;
      return std::optional(std::move(entry));
    }
    if (here.node.level != 0 && here.next < here.node.children.size()) {
      CUTPOINT_RETURN_IF_FAILED(open_next(is_resumed));
      continue;
    }
    is_resumed = false;
    leave_node();
  }
  return std::optional<folder_entry>();
}

void folder_cursor::go_behind(std::string_view name) {
  release_nodes();
  last_ = name;
  is_at_end_ = false;
}

entry_place folder_cursor::place() const {
  assert(!open_.empty() && open_.back().node.level == 0 && open_.back().next != 0);
  return {open_.back().reference, static_cast<std::uint32_t>(open_.back().next - 1)};
}

void folder_cursor::leave_nodes_without_rest() noexcept {
  while (!open_.empty()) {
    const open_node& here = open_.back();
    if (here.next < std::max(here.node.entries.size(), here.node.children.size())) break;
    leave_node();
  }
}

/// Returns the node that will be opened next, or null if entries are left in an open one.
const child_node* folder_cursor::next_node() const noexcept {
  const bool is_between_nodes = !open_.empty() && open_.back().node.level != 0;
  return is_between_nodes ? &open_.back().node.children[open_.back().next] : nullptr;
}

status folder_cursor::pass_equal_nodes(folder_cursor& a, folder_cursor& b) {
  for (folder_cursor* each : {&a, &b}) {
    if (each->is_at_end_) return {};
    if (each->open_.empty()) {
      if (!each->last_.empty()) return {};  // its nodes were released: a part of the next one may have been read
      if (status outcome = each->open(each->root_, std::nullopt, std::nullopt, false); !outcome.ok()) {
        each->is_at_end_ = true;
        return outcome;
      }
    }
  }
  for (;;) {
    for (folder_cursor* each : {&a, &b}) each->leave_nodes_without_rest();
    const child_node* const next_a = a.next_node();
    const child_node* const next_b = b.next_node();
    if (next_a == nullptr || next_b == nullptr) return {};
    const std::uint8_t level_a = a.open_.back().node.level;
    const std::uint8_t level_b = b.open_.back().node.level;
    if (next_a->node.content == next_b->node.content && level_a == level_b) {
      for (folder_cursor* each : {&a, &b}) {
        each->last_ = each->next_node()->last_name;
        ++each->open_.back().next;
      }
      continue;
    }
    if (level_a == 1 && level_b == 1) return {};  // both are nodes of entries, and differ
    if (level_a >= level_b) CUTPOINT_RETURN_IF_FAILED(a.open_next(false));
    if (level_b >= level_a) CUTPOINT_RETURN_IF_FAILED(b.open_next(false));
  }
}

result<std::optional<folder_entry>> folder_cursor::next_from(std::string_view name) {
  for (;;) {
    // Most names are found in the node that is open.
    if (!open_.empty() && open_.back().node.level == 0) {
      open_node& here = open_.back();
      const auto begin = here.node.entries.begin() + static_cast<std::ptrdiff_t>(here.next);
      const auto position = std::ranges::lower_bound(begin, here.node.entries.end(), name, {}, &folder_entry::name);
      if (position != begin) last_ = std::prev(position)->name;
      here.next = static_cast<std::size_t>(position - here.node.entries.begin());
    }
    auto entry = next();
    if (!entry || !*entry || (**entry).name >= name) return entry;
  }
}

status visit_entries(const record_reference& root, node_source& nodes,
                     const std::function<status(const folder_entry&)>& visit) {
  folder_cursor entries(root, nodes);
  for (;;) {
    CUTPOINT_TRY(const auto entry, entries.next());
    if (!entry) return {};
    CUTPOINT_RETURN_IF_FAILED(visit(*entry));
  }
}

result<std::optional<placed_entry>> find_entry(const record_reference& root, std::string_view name,
                                               node_source& nodes) {
  record_reference at = root;
  std::optional<std::uint8_t> level;
  for (;;) {
    CUTPOINT_TRY(const auto shared, share(at, node_kind::folder, level, nodes));
    const decoded_node* const node = shared.get();
    if (node->level == 0) {
      const auto position = std::ranges::lower_bound(node->entries, name, {}, &folder_entry::name);
      if (position == node->entries.end() || position->name != name) return std::optional<placed_entry>();
      const auto number = static_cast<std::uint32_t>(position - node->entries.begin());
      return std::optional(placed_entry{*position, {at, number}});
    }
    const auto child = std::ranges::lower_bound(node->children, name, {}, &child_node::last_name);
    if (child == node->children.end()) return std::optional<placed_entry>();
    at = child->node;
    level = static_cast<std::uint8_t>(node->level - 1);
  }
}

result<folder_entry> entry_at(const entry_place& place, node_source& nodes) {
  CUTPOINT_TRY(const auto node, share(place.node, node_kind::folder, std::uint8_t{0}, nodes));
  return place.number < node->entries.size() ? result(node->entries[place.number]) : wrong_node(place.node);
}

namespace {

constexpr std::size_t least_node_bytes = 4 * KiB;
constexpr std::size_t usual_largest_node_bytes = 512 * KiB;
constexpr std::uint64_t elements_between_cuts = 256;

byte_span key_of(const std::string& name) { return {reinterpret_cast<const std::uint8_t*>(name.data()), name.size()}; }

}  // namespace

node_list_writer::open_level& node_list_writer::level_at(std::size_t level) {
  if (level == levels_.size()) {
    levels_.push_back({node_builder(kind_, static_cast<std::uint8_t>(level)), 0, {}});
  }
  return levels_[level];
}

status node_list_writer::add(const stored_extent& extent) {
  assert(kind_ == node_kind::extents);
  open_level& leaf = level_at(0);
  leaf.builder.add(extent);
  leaf.bytes += extent.bytes();
  if (extent.kind != extent_kind::hole) return end_element(0, extent.record.content.view());
  std::array<std::uint8_t, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::uint8_t>(extent.count >> (8 * i));
  return end_element(0, length);
}

status node_list_writer::add(const folder_entry& entry) {
  assert(kind_ == node_kind::folder);
  open_level& leaf = level_at(0);
  assert(is_entry_name(entry.name) && leaf.last_name < entry.name);
  leaf.builder.add(entry);
  leaf.last_name = entry.name;
  if (leaf.builder.bytes() > largest_node_bytes) {
    return {status_code::invalid_argument, fmt::format("{}: its extended attributes are too long", entry.name)};
  }
  return end_element(0, key_of(entry.name));
}

status node_list_writer::end_element(std::size_t level, byte_span cut_key) {
  const std::size_t bytes = levels_[level].builder.bytes();
  const bool is_cut = bytes >= least_node_bytes &&
                      XXH3_64bits_withSeed(cut_key.data(), cut_key.size(), level) % elements_between_cuts == 0;
  return is_cut || bytes >= usual_largest_node_bytes ? end_node(level) : status();
}

status node_list_writer::end_node(std::size_t level) {
  CUTPOINT_TRY(const auto node, nodes_.put_node(levels_[level].builder.finish()));
  static_cast<void>(level_at(level + 1));  // may move the levels
  open_level& ended = levels_[level];
  open_level& above = levels_[level + 1];
  above.builder.add(child_node{node, ended.bytes, ended.last_name});
  above.bytes += ended.bytes;
  above.last_name = ended.last_name;
  ended.bytes = 0;
  return end_element(level + 1, node.content.view());
}

result<record_reference> node_list_writer::finish() {
  static_cast<void>(level_at(0));
  for (std::size_t level = 0;; ++level) {
    const bool is_top = level + 1 == levels_.size();
    if (is_top) return nodes_.put_node(levels_[level].builder.finish());
    if (levels_[level].builder.count() == 0) continue;
    CUTPOINT_RETURN_IF_FAILED(end_node(level));
  }
}

}  // namespace cutpoint::store
