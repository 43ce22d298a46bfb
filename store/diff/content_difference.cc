#include "store/diff/content_difference.h"

#include <algorithm>
#include <cstring>

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_chunks = std::size_t{1} << 22;

/// The first bytes of a digest. Two digests that share them only make a number wrong.
std::uint64_t key_of(const digest& content) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, content.bytes.data(), sizeof key);
  return key;
}

struct chunk_bytes {
  std::uint64_t key = 0;
  std::uint64_t bytes = 0;
};

/// What is left to compare of a version: nodes of one level, and chunks.
struct version {
  std::vector<record_reference> nodes;
  std::optional<std::uint8_t> level;  ///< of the nodes; not known of a root
  std::vector<chunk_bytes> chunks;
  bool is_too_long = false;

  explicit version(const folder_entry& file) {
    if (file.node) nodes.push_back(*file.node);
    for (const stored_extent& each : file.extents) add(each);
  }

  void add(const stored_extent& extent) {
    if (extent.kind != extent_kind::hole) chunks.push_back({key_of(extent.record.content), extent.bytes()});
  }

  /// Replaces the nodes by what is in them.
  status open(node_source& source) {
    std::vector<record_reference> children;
    std::optional<std::uint8_t> level_below;
    for (const record_reference& each : nodes) {
      const auto node = read_list_node(each, node_kind::extents, level, source);
      if (!node) return node.error();
      for (const stored_extent& extent : node->extents) add(extent);
      for (const child_node& child : node->children) children.push_back(child.node);
      if (node->level != 0) level_below = static_cast<std::uint8_t>(node->level - 1);
      is_too_long = std::max(chunks.size(), children.size()) > most_chunks;
      if (is_too_long) return {};
    }
    nodes = std::move(children);
    level = level_below;
    return {};
  }

  /// Returns the level of the nodes, or one above all if it is not known.
  [[nodiscard]] int height() const noexcept { return nodes.empty() ? -1 : level ? *level : most_node_levels + 1; }
};

void remove_common_nodes(version& a, version& b) {
  const auto by_digest = [](const record_reference& left, const record_reference& right) {
    return left.content.bytes < right.content.bytes;
  };
  std::ranges::sort(a.nodes, by_digest);
  std::ranges::sort(b.nodes, by_digest);
  const auto only = [&](const version& here, const version& other) {
    std::vector<record_reference> rest;
    std::ranges::copy_if(here.nodes, std::back_inserter(rest), [&](const record_reference& each) {
      return !std::ranges::binary_search(other.nodes, each, by_digest);
    });
    return rest;
  };
  auto rest = only(a, b);
  b.nodes = only(b, a);
  a.nodes = std::move(rest);
}

/// Returns the bytes in chunks that the other version does not have. `other` is sorted.
std::uint64_t bytes_of_others(const std::vector<chunk_bytes>& chunks, const std::vector<chunk_bytes>& other) {
  std::uint64_t bytes = 0;
  for (const chunk_bytes& each : chunks) {
    if (!std::ranges::binary_search(other, each.key, {}, &chunk_bytes::key)) bytes += each.bytes;
  }
  return bytes;
}

}  // namespace

bool has_same_content(const folder_entry& a, const folder_entry& b) {
  if (a.node || b.node) return a.node && b.node && a.node->content == b.node->content && a.size == b.size;
  return a.size == b.size && std::ranges::equal(a.extents, b.extents, [](const auto& left, const auto& right) {
           return left.kind == right.kind && left.count == right.count && left.record.content == right.record.content &&
                  left.record.raw_bytes == right.record.raw_bytes;
         });
}

result<content_difference> compare_contents(const folder_entry& before, const folder_entry& after, node_source& nodes) {
  version old_version(before);
  version new_version(after);
  while (!old_version.nodes.empty() || !new_version.nodes.empty()) {
    if (old_version.height() == new_version.height()) remove_common_nodes(old_version, new_version);
    const int height = std::max(old_version.height(), new_version.height());
    for (version* each : {&old_version, &new_version}) {
      if (each->nodes.empty() || each->height() != height) continue;
      if (status outcome = each->open(nodes); !outcome.ok()) return outcome;
      if (each->is_too_long) return content_difference{before.size, after.size};
    }
  }
  std::ranges::sort(old_version.chunks, {}, &chunk_bytes::key);
  std::ranges::sort(new_version.chunks, {}, &chunk_bytes::key);
  return content_difference{bytes_of_others(old_version.chunks, new_version.chunks),
                            bytes_of_others(new_version.chunks, old_version.chunks)};
}

}  // namespace cutpoint::store
