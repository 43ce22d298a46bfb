#include "store/backup/tree_builder.h"

#include <cassert>
#include <utility>

#include "store/backup/change_digest.h"

namespace cutpoint::store {

status pending_entry::add(const stored_extent& extent, node_receiver& nodes) {
  if (list_) return list_->add(extent);
  if (entry.extents.size() < most_inline_extents) {
    entry.extents.push_back(extent);
    return {};
  }
  list_.emplace(node_kind::extents, nodes);
  for (const stored_extent& each : std::exchange(entry.extents, {})) {
    if (status added = list_->add(each); !added.ok()) return added;
  }
  return list_->add(extent);
}

void pending_entry::restart() {
  list_.reset();
  entry.extents.clear();
}

status pending_entry::complete() {
  if (list_) {
    const auto node = list_->finish();
    if (!node) return node.error();
    entry.node = *node;
    list_.reset();
  }
  is_complete_.store(true, std::memory_order_release);
  return {};
}

tree_builder::tree_builder(node_receiver& nodes, problem_function left_out)
    : nodes_(nodes), left_out_(std::move(left_out)) {
  folders_.push_back({{}, node_list_writer(node_kind::folder, nodes_)});
}

void tree_builder::enter(folder_entry folder) { steps_.push_back({std::move(folder), nullptr, {}}); }
void tree_builder::leave() { steps_.push_back({std::nullopt, nullptr, {}}); }
void tree_builder::add(std::shared_ptr<pending_entry> entry, std::string path) {
  steps_.push_back({std::nullopt, std::move(entry), std::move(path)});
}

status tree_builder::write_complete() {
  while (!steps_.empty() && (!steps_.front().entry || steps_.front().entry->is_complete())) {
    step next = std::move(steps_.front());
    steps_.pop_front();
    if (status performed = perform(std::move(next)); !performed.ok()) return performed;
  }
  return {};
}

status tree_builder::perform(step next) {
  if (next.entry) return write_entry(next);
  if (next.folder) {
    folders_.push_back({std::move(*next.folder), node_list_writer(node_kind::folder, nodes_)});
    return {};
  }
  const auto node = folders_.back().entries.finish();
  if (!node) return node.error();
  folder_entry folder = std::move(folders_.back().entry);
  folder.node = *node;
  folders_.pop_back();
  return folders_.back().entries.add(folder);
}

status tree_builder::write_entry(const step& next) {
  pending_entry& pending = *next.entry;
  if (pending.is_left_out) return {};
  if (const pending_entry* first = pending.first_name.get()) {
    assert(first->is_complete());
    if (first->is_left_out) {
      left_out_(next.path,
                {status_code::io_error, next.path + ": it is another name of a file that could not be read"});
      return {};
    }
    pending.entry.size = first->entry.size;
    pending.entry.changed = first->entry.changed;  // this name was described later, perhaps after the content was read
    pending.entry.extents = first->entry.extents;
    pending.entry.node = first->entry.node;
  }
  const bool is_unchanged =
      pending.is_unchanged || (pending.parent_digest && *pending.parent_digest == change_digest(pending.entry));
  ++(is_unchanged ? counts_.unchanged : pending.parent_digest ? counts_.changed : counts_.added);
  return folders_.back().entries.add(pending.entry);
}

result<record_reference> tree_builder::finish() {
  if (status written = write_complete(); !written.ok()) return written;
  assert(steps_.empty() && folders_.size() == 1);
  return folders_.front().entries.finish();
}

}  // namespace cutpoint::store
