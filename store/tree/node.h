// Nodes of trees: lists of extents and of folder entries, as contents of metadata records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/tree_entry.h>

namespace cutpoint::store {

/// No file system has a longer file, so that every sparse file can be stored.
inline constexpr std::uint64_t largest_file_bytes = INT64_MAX;
inline constexpr std::size_t largest_node_bytes = MiB;
inline constexpr std::uint8_t most_node_levels = 16;
inline constexpr std::size_t most_inline_extents = 16;
inline constexpr std::size_t largest_attribute_bytes = 64 * KiB;
/// Attributes that surely fit into a node with everything else of an entry.
inline constexpr std::size_t most_attribute_bytes = 256 * KiB;

/// Names a record by its content.
struct record_reference {
  digest content = {};
  /// Length of a chunk, or of a node without its hints.
  std::uint32_t raw_bytes = 0;
  /// Not part of the reference's identity: `hint_of` the salt of a container that had the record when the reference was written.
  std::uint64_t hint = 0;

  friend bool operator==(const record_reference&, const record_reference&) = default;
};

/// The numbers are in files and never change.
enum class extent_kind : std::uint8_t { data = 1, hole = 2, run = 3 };

/// A byte range of a stored file.
struct stored_extent {
  extent_kind kind = extent_kind::data;
  record_reference record = {};  ///< of a chunk; not used for a hole
  /// For a hole its length in bytes, for a run how many times the chunk follows itself, for data 1.
  std::uint64_t count = 1;

  /// Returns the length in bytes. A decoded extent's length fits into 63 bits.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return kind == extent_kind::hole ? count : count * record.raw_bytes;
  }
  friend bool operator==(const stored_extent&, const stored_extent&) = default;
};

/// A name in a stored folder, and everything that is known of its file.
struct folder_entry : file_metadata {
  std::string name = {};
  std::vector<extended_attribute> attributes = {};
  std::vector<stored_extent> extents = {};    ///< at most `most_inline_extents`; empty if `node` has them
  std::optional<record_reference> node = {};  ///< of a folder's entries, or of a list of extents
};

/// A reference to a node of the level below.
struct child_node {
  record_reference node;
  std::uint64_t bytes = 0;  ///< in a list of extents: their length together
  std::string last_name;    ///< in a folder: the largest name below the node
};

/// The numbers are in files and never change.
enum class node_kind : std::uint8_t { folder = 1, extents = 2 };

/// A decoded node. Only one of the lists has elements.
struct decoded_node {
  node_kind kind = node_kind::extents;
  std::uint8_t level = 0;
  std::vector<stored_extent> extents;  ///< level 0
  std::vector<folder_entry> entries;   ///< level 0, sorted by name
  std::vector<child_node> children;    ///< other levels
};

/// A node as it is stored: its content, which its digest is of, and after that the hints of its references. So equal
/// lists are equal nodes, wherever their records are.
struct encoded_node {
  std::vector<std::uint8_t> bytes;
  std::size_t content_bytes = 0;

  [[nodiscard]] byte_span content() const noexcept { return byte_span(bytes).first(content_bytes); }
};

/// Returns the content of a stored node, or nullopt if the bytes are not a node.
[[nodiscard]] std::optional<byte_span> node_content(byte_span bytes) noexcept;

/// Returns whether a name can be an entry of a folder, and so can lead to no other folder.
[[nodiscard]] bool is_entry_name(std::string_view name) noexcept;

/// Reads the node `name`. Every field is checked; wrong hints count as none. The memory that a node takes is at most about 10
/// times the length of `bytes`. Errors: damage, if a field is out of its bounds; unavailable, for an extension that must be known.
[[nodiscard]] result<decoded_node> decode_node(byte_span bytes, const digest& name);

/// References in a row that have one hint.
struct hint_run {
  std::uint32_t count = 0;
  std::uint64_t hint = 0;
};

/// Collects the elements of one node. It encodes what it is given; `decode_node` checks names.
class node_builder {
 public:
  node_builder(node_kind kind, std::uint8_t level) noexcept : kind_(kind), level_(level) {}

  void add(const stored_extent& extent);
  void add(const folder_entry& entry);
  void add(const child_node& child);

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// Returns the length of the content so far.
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Returns the node, and begins the next one.
  [[nodiscard]] encoded_node finish();

 private:
  void append(const record_reference& reference);
  void append(const stored_extent& extent);

  node_kind kind_;
  std::uint8_t level_;
  std::uint32_t count_ = 0;
  std::vector<hint_run> hints_;
  std::vector<std::uint8_t> elements_;
};

}  // namespace cutpoint::store
