#include "store/tree/node_list_writer.h"

#include <array>
#include <cassert>

#include <fmt/format.h>
#include <xxhash.h>

namespace cutpoint::store {

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
  const auto node = nodes_.put_node(levels_[level].builder.finish());
  if (!node) return node.error();
  static_cast<void>(level_at(level + 1));  // may move the levels
  open_level& ended = levels_[level];
  open_level& above = levels_[level + 1];
  above.builder.add(child_node{*node, ended.bytes, ended.last_name});
  above.bytes += ended.bytes;
  above.last_name = ended.last_name;
  ended.bytes = 0;
  return end_element(level + 1, node->content.view());
}

result<record_reference> node_list_writer::finish() {
  static_cast<void>(level_at(0));
  for (std::size_t level = 0;; ++level) {
    const bool is_top = level + 1 == levels_.size();
    if (is_top) return nodes_.put_node(levels_[level].builder.finish());
    if (levels_[level].builder.count() == 0) continue;
    if (status ended = end_node(level); !ended.ok()) return ended;
  }
}

}  // namespace cutpoint::store
