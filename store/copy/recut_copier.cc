#include "store/copy/recut_copier.h"

#include <algorithm>

#include "store/copy/stored_stream.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

bool is_same_record(const record_reference& a, const record_reference& b) {
  return a.content == b.content && a.raw_bytes == b.raw_bytes;
}

bool has_same_content(const folder_entry& a, const folder_entry& b) {
  if (a.kind != b.kind || a.size != b.size || a.node.has_value() != b.node.has_value()) return false;
  if (a.node) return is_same_record(*a.node, *b.node);
  return std::ranges::equal(a.extents, b.extents, [](const stored_extent& left, const stored_extent& right) {
    return left.kind == right.kind && left.count == right.count && is_same_record(left.record, right.record);
  });
}

}  // namespace

void recut_copier::enter(const std::string& folder) {
  earlier_.original.enter(earlier_.original.find(folder));
  earlier_.copy.enter(earlier_.copy.find(folder));
}

void recut_copier::leave() {
  earlier_.original.leave();
  earlier_.copy.leave();
}

bool recut_copier::take_from_earlier(pending_entry& entry, const folder_entry& original) {
  const folder_entry* const before = earlier_.original.find(original.name);
  const folder_entry* const copy = earlier_.copy.find(original.name);
  if (before == nullptr || copy == nullptr || !has_same_content(*before, original)) return false;
  if (copy->kind != original.kind || copy->size != original.size || !earlier_.copy.has_all_records(*copy)) return false;
  entry.entry.extents = copy->extents;
  entry.entry.node = copy->node;
  return true;
}

status recut_copier::copy(std::shared_ptr<pending_entry> entry, const folder_entry& original, const std::string& path) {
  if (original.kind != file_kind::regular_file) return fail(path, damage(original.name, "it cannot have a content"));
  if (original.link_count > 1) {
    const auto [first, is_first] =
        first_names_.try_emplace(std::pair(original.device, original.inode), first_name{entry, original});
    if (!is_first && has_same_content(first->second.original, original)) {
      entry->first_name = first->second.entry;
      return entry->complete();
    }
  }
  count(0, path);
  if (take_from_earlier(*entry, original)) {
    count(original.size);
    return entry->complete();
  }
  stored_stream stream(original, source_);
  status failure;
  if (status stored = contents_.store_file(files_, entry, stream, failure); !stored.ok()) return stored;
  if (!failure.ok()) return fail(path, failure);
  const bool is_whole = entry->entry.size == original.size;
  return is_whole ? status() : fail(path, damage(original.name, "its content does not have its size"));
}

}  // namespace cutpoint::store
