// Encodes and decodes nodes.
#include "store/tree/node.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/record.h"

namespace cutpoint::store {

// Constants of the encoding of nodes, for the code that writes and reads them.

inline constexpr std::uint32_t node_magic = 0x444e4350;  // "PCND"
/// The fields before the elements.
inline constexpr std::size_t node_header_bytes = 16;
inline constexpr std::size_t hint_run_bytes = 12;

/// Is added to the kind of an extent that extensions follow.
inline constexpr std::uint8_t extended_extent = 0x80;

/// How an entry's content follows it. The numbers are in files and never change.
enum class entry_content : std::uint8_t { none = 0, extents = 1, node = 2 };

namespace {

byte_span bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void append_time(const std::timespec& time, field_writer& fields) {
  fields.number(static_cast<std::uint64_t>(time.tv_sec)).number(static_cast<std::uint32_t>(time.tv_nsec));
}

}  // namespace

void node_builder::append(const record_reference& reference) {
  if (hints_.empty() || hints_.back().hint != reference.hint) hints_.push_back({0, reference.hint});
  ++hints_.back().count;
  field_writer(elements_).bytes(reference.content.bytes).number(reference.raw_bytes);
}

void node_builder::append(const stored_extent& extent) {
  elements_.push_back(static_cast<std::uint8_t>(extent.kind));
  if (extent.kind != extent_kind::hole) append(extent.record);
  if (extent.kind != extent_kind::data) field_writer(elements_).number(extent.count);
}

void node_builder::add(const stored_extent& extent) {
  append(extent);
  ++count_;
}

void node_builder::add(const folder_entry& entry) {
  assert(entry.extents.size() <= most_inline_extents);
  field_writer fields(elements_);
  fields.text(entry.name)
      .number(static_cast<std::uint8_t>(entry.kind))
      .number(entry.permissions)
      .number(entry.user_id)
      .number(entry.group_id);
  append_time(entry.modified, fields);
  append_time(entry.changed, fields);
  for (const std::uint64_t each : {entry.size, entry.device, entry.inode, entry.link_count, entry.device_number}) {
    fields.number(each);
  }
  fields.number(entry.flags).text(entry.target);
  fields.number(static_cast<std::uint16_t>(entry.attributes.size()));
  for (const extended_attribute& each : entry.attributes) {
    assert(each.value.size() <= largest_attribute_bytes);
    fields.text(each.name).number(static_cast<std::uint32_t>(each.value.size())).bytes(bytes_of(each.value));
  }
  if (entry.node) {
    fields.number(static_cast<std::uint8_t>(entry_content::node));
    append(*entry.node);
  } else if (!entry.extents.empty()) {
    fields.number(static_cast<std::uint8_t>(entry_content::extents))
        .number(static_cast<std::uint16_t>(entry.extents.size()));
    for (const stored_extent& each : entry.extents) append(each);
  } else {
    fields.number(static_cast<std::uint8_t>(entry_content::none));
  }
  ++count_;
}

void node_builder::add(const child_node& child) {
  append(child.node);
  field_writer fields(elements_);
  if (kind_ == node_kind::folder) {
    fields.text(child.last_name);
  } else {
    fields.number(child.bytes);
  }
  ++count_;
}

std::size_t node_builder::bytes() const noexcept { return node_header_bytes + elements_.size(); }

encoded_node node_builder::finish() {
  encoded_node node;
  node.content_bytes = bytes();
  field_writer fields(node.bytes);
  fields.number(node_magic)
      .number(static_cast<std::uint8_t>(kind_))
      .number(level_)
      .zeros(2)
      .number(static_cast<std::uint32_t>(node.content_bytes))
      .number(count_)
      .bytes(elements_)
      .number(static_cast<std::uint32_t>(hints_.size()));
  for (const hint_run& each : hints_) fields.number(each.count).number(each.hint);
  hints_.clear();
  elements_.clear();
  count_ = 0;
  return node;
}

// Decodes nodes, and trusts no field of them.

namespace {

constexpr std::size_t least_extent_bytes = 9;  // of a hole
constexpr std::uint32_t nanoseconds_per_second = 1'000'000'000;

std::string title_of(const digest& name) { return "the node " + to_hex(name); }

/// Reads the elements of one node. After a field that is out of its bounds, `ok` is false and values have no meaning.
class element_reader {
 public:
  element_reader(field_reader fields, field_reader hints, const digest& name)
      : fields_(fields), hints_(hints), name_(name) {}

  [[nodiscard]] bool ok() const noexcept { return is_valid_ && fields_.ok(); }
  /// Returns the error of an extension that must be known.
  [[nodiscard]] const status& extensions() const noexcept { return extensions_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return fields_.remaining(); }

  [[nodiscard]] record_reference reference() {
    record_reference read;
    fields_.read(read.content.bytes);
    read.content.size = name_.size;
    read.raw_bytes = fields_.number<std::uint32_t>();
    require(read.raw_bytes <= largest_raw_bytes);
    read.hint = next_hint();
    return read;
  }
  [[nodiscard]] stored_extent extent() {
    stored_extent read;
    const auto code = fields_.number<std::uint8_t>();
    const auto kind = static_cast<std::uint8_t>(code & ~extended_extent);
    require(kind >= static_cast<std::uint8_t>(extent_kind::data) &&
            kind <= static_cast<std::uint8_t>(extent_kind::run));
    read.kind = static_cast<extent_kind>(kind);
    if (read.kind != extent_kind::hole) read.record = reference();
    if (read.kind != extent_kind::data) read.count = fields_.number<std::uint64_t>();
    const std::uint64_t each = read.kind == extent_kind::hole ? 1 : read.record.raw_bytes;
    require(each != 0 && read.count != 0 && read.count <= largest_file_bytes / each);
    if (code != kind) pass_over_extensions();
    return read;
  }
  [[nodiscard]] folder_entry entry();
  [[nodiscard]] child_node child(node_kind kind) {
    child_node read;
    read.node = reference();
    if (kind == node_kind::folder) {
      read.last_name = fields_.text();
      require(is_entry_name(read.last_name));
    } else {
      read.bytes = fields_.number<std::uint64_t>();
      require(read.bytes != 0 && read.bytes <= largest_file_bytes);
    }
    return read;
  }

 private:
  /// Returns 0 for references that have no hint.
  [[nodiscard]] std::uint64_t next_hint() {
    while (run_.count == 0 && hints_.remaining() >= hint_run_bytes) {
      run_.count = hints_.number<std::uint32_t>();
      run_.hint = hints_.number<std::uint64_t>();
    }
    if (run_.count == 0) return 0;
    --run_.count;
    return run_.hint;
  }
  void require(bool holds) noexcept { is_valid_ = is_valid_ && holds; }
  void pass_over_extensions() {
    status outcome = read_extensions(fields_, title_of(name_), [](auto, auto) { return false; });
    if (extensions_.ok()) extensions_ = std::move(outcome);
  }
  [[nodiscard]] std::string text(std::size_t size) {
    const byte_span bytes = fields_.take(size);
    return {bytes.begin(), bytes.end()};
  }
  [[nodiscard]] std::timespec time() {
    std::timespec read = {};
    read.tv_sec = static_cast<std::time_t>(fields_.number<std::uint64_t>());
    const auto nanoseconds = fields_.number<std::uint32_t>();
    require(nanoseconds < nanoseconds_per_second);
    read.tv_nsec = nanoseconds;
    return read;
  }

  field_reader fields_;
  field_reader hints_;
  hint_run run_;
  const digest& name_;
  status extensions_;
  bool is_valid_ = true;
};

folder_entry element_reader::entry() {
  folder_entry read;
  read.name = fields_.text();
  require(is_entry_name(read.name));
  const auto kind = fields_.number<std::uint8_t>();
  require(kind <= static_cast<std::uint8_t>(file_kind::block_device));
  read.kind = static_cast<file_kind>(kind);
  read.permissions = fields_.number<std::uint32_t>();
  require(read.permissions <= 07777);
  read.user_id = fields_.number<std::uint32_t>();
  read.group_id = fields_.number<std::uint32_t>();
  read.modified = time();
  read.changed = time();
  for (std::uint64_t* each : {&read.size, &read.device, &read.inode, &read.link_count, &read.device_number}) {
    *each = fields_.number<std::uint64_t>();
  }
  read.flags = fields_.number<std::uint32_t>();
  read.target = fields_.text();
  require(read.target.find('\0') == std::string::npos);
  const auto attribute_count = fields_.number<std::uint16_t>();
  for (std::uint16_t i = 0; i < attribute_count && ok(); ++i) {
    extended_attribute attribute;
    attribute.name = fields_.text();
    const auto size = fields_.number<std::uint32_t>();
    require(size <= largest_attribute_bytes && attribute.name.find('\0') == std::string::npos);
    attribute.value = text(size);
    read.attributes.push_back(std::move(attribute));
  }
  const auto content = fields_.number<std::uint8_t>();
  require(content <= static_cast<std::uint8_t>(entry_content::node));
  if (content == static_cast<std::uint8_t>(entry_content::node)) read.node = reference();
  if (content == static_cast<std::uint8_t>(entry_content::extents)) {
    const auto extent_count = fields_.number<std::uint16_t>();
    require(extent_count != 0 && extent_count <= most_inline_extents);
    for (std::uint16_t i = 0; i < extent_count && ok(); ++i) read.extents.push_back(extent());
  }
  return read;
}

bool is_sorted(const std::vector<folder_entry>& entries, const std::vector<child_node>& children) {
  return std::ranges::adjacent_find(entries, std::ranges::greater_equal{}, &folder_entry::name) == entries.end() &&
         std::ranges::adjacent_find(children, std::ranges::greater_equal{}, &child_node::last_name) == children.end();
}

}  // namespace

bool is_entry_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::optional<byte_span> node_content(byte_span bytes) noexcept {
  field_reader fields(bytes);
  const auto magic = fields.number<std::uint32_t>();
  static_cast<void>(fields.number<std::uint32_t>());
  const auto content_bytes = fields.number<std::uint32_t>();
  if (magic != node_magic || content_bytes < node_header_bytes || content_bytes > largest_node_bytes ||
      content_bytes > bytes.size()) {
    return std::nullopt;
  }
  return bytes.first(content_bytes);
}

result<decoded_node> decode_node(byte_span bytes, const digest& name) {
  const auto refuse = [&name] { return damage(title_of(name), "a field is out of its bounds"); };
  const auto content = node_content(bytes);
  if (!content) return refuse();
  field_reader fields(content->subspan(sizeof node_magic));
  decoded_node node;
  const auto kind = fields.number<std::uint8_t>();
  node.kind = static_cast<node_kind>(kind);
  node.level = fields.number<std::uint8_t>();
  const auto zero = fields.number<std::uint16_t>();
  static_cast<void>(fields.number<std::uint32_t>());  // the length of the content
  const auto count = fields.number<std::uint32_t>();
  // The digest does not cover the hints, so that wrong ones must not make a node unreadable that others refer to as well.
  field_reader hints(bytes.subspan(content->size()));
  const auto run_count = hints.number<std::uint32_t>();
  if (!hints.ok() || hints.remaining() != std::uint64_t{run_count} * hint_run_bytes) hints = field_reader({});
  if (kind < static_cast<std::uint8_t>(node_kind::folder) || kind > static_cast<std::uint8_t>(node_kind::extents) ||
      node.level > most_node_levels || zero != 0) {
    return refuse();
  }
  element_reader elements(fields, hints, name);
  if (node.level == 0 && node.kind == node_kind::extents) {
    node.extents.reserve(std::min<std::size_t>(count, content->size() / least_extent_bytes));
  }
  for (std::uint32_t i = 0; i < count && elements.ok(); ++i) {
    if (node.level != 0) {
      node.children.push_back(elements.child(node.kind));
    } else if (node.kind == node_kind::extents) {
      node.extents.push_back(elements.extent());
    } else {
      node.entries.push_back(elements.entry());
    }
  }
  if (!elements.ok() || elements.remaining() != 0) return refuse();
  if (!elements.extensions().ok()) return elements.extensions();
  if (node.kind == node_kind::folder && !is_sorted(node.entries, node.children)) return refuse();
  return node;
}

}  // namespace cutpoint::store
