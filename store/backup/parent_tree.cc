#include "store/backup/parent_tree.h"

namespace cutpoint::store {

bool is_same(const std::timespec& a, const std::timespec& b) noexcept {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_unchanged(const folder_entry& stored, const tree_entry& entry) noexcept {
  const bool is_trusted = !is_same(stored.changed, {});
  return is_trusted && stored.kind == entry.kind && stored.size == entry.size && stored.inode == entry.inode &&
         is_same(stored.modified, entry.modified) && is_same(stored.changed, entry.changed);
}

result<parent_tree> parent_tree::make(const store_reading& store, std::optional<record_reference> root) {
  auto check = store.make_fingerprinter();
  if (!check) return check.error();
  parent_tree tree(store, std::move(*check));
  tree.push(root);
  return tree;
}

void parent_tree::push(std::optional<record_reference> node) {
  folders_.push_back({node ? std::optional(folder_cursor(*node, *nodes_)) : std::nullopt, std::nullopt});
  if (folders_.size() <= most_folders_with_nodes) return;
  auto& above = folders_[folders_.size() - 1 - most_folders_with_nodes];
  if (above.entries) above.entries->release_nodes();
}

const folder_entry* parent_tree::find(std::string_view name) {
  folder& here = folders_.back();
  while (!here.next || here.next->name < name) {
    if (!pass_entry(here)) return nullptr;
  }
  if (here.next->name != name) return nullptr;
  here.is_next_present = true;
  return &*here.next;
}

/// Reads the next entry of a folder. Returns false if there is none.
bool parent_tree::pass_entry(folder& here) {
  if (here.next && !here.is_next_present) has_removed_entries_ = true;
  here.next.reset();
  here.is_next_present = false;
  if (!here.entries) return false;
  auto next = here.entries->next();
  if (!next || !*next) here.entries.reset();
  if (!next) has_removed_entries_ = true;  // nobody knows what it was
  if (next) here.next = std::move(*next);
  return here.next.has_value();
}

void parent_tree::leave() {
  if (!has_removed_entries_) {
    while (pass_entry(folders_.back()) && !has_removed_entries_) {
    }
  }
  folders_.pop_back();
}

bool parent_tree::has_removed_entries() {
  while (!folders_.empty()) leave();
  return has_removed_entries_;
}

void parent_tree::enter(const folder_entry* stored) {
  push(stored != nullptr && stored->kind == file_kind::directory ? stored->node : std::nullopt);
}

bool parent_tree::has_all_records(const folder_entry& stored) {
  std::vector<digest> digests;
  std::vector<std::optional<found_record>> records;
  const auto are_present = [&]() -> status {
    records.assign(digests.size(), std::nullopt);
    if (status located = store_.shards.locate(record_kind::chunk, digests, records); !located.ok()) return located;
    digests.clear();
    for (const auto& each : records) {
      if (!each) return {status_code::io_error, "a record is missing"};
    }
    return {};
  };
  std::uint64_t bytes = 0;
  status visited = visit_file(stored, 0, UINT64_MAX, *nodes_, [&](const stored_extent& extent, std::uint64_t) {
    bytes += extent.bytes();
    if (extent.kind != extent_kind::hole) digests.push_back(extent.record.content);
    return digests.size() < located_at_once ? status() : are_present();
  });
  if (visited.ok()) visited = are_present();
  return visited.ok() && bytes == stored.size;
}

}  // namespace cutpoint::store
