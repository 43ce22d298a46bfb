// Encodes nodes.
#include <cassert>
#include <utility>

#include "store/format/fields.h"
#include "store/tree/node.h"
#include "store/tree/node_fields.h"

namespace cutpoint::store {

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

}  // namespace cutpoint::store
