#include "store/backup/tree_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "store/backup/file_description.h"

namespace cutpoint::store {

namespace {

/// Whether the content of two extents is one chunk again and again, no more than an extent can have.
bool is_run(const stored_extent& first, const stored_extent& second) {
  const std::uint64_t most = (std::uint64_t{1} << 63) - 1;
  return first.kind != extent_kind::hole && second.kind != extent_kind::hole &&
         first.record.content == second.record.content && first.record.raw_bytes == second.record.raw_bytes &&
         second.count <= most / first.record.raw_bytes - first.count;
}

}  // namespace

/// How far a run was counted, and how far it was cut, depends on how the content was read. What is stored does not.
status pending_entry::add(const stored_extent& extent, node_receiver& nodes) {
  if (last_ && is_run(*last_, extent)) {
    last_->kind = extent_kind::run;
    last_->count += extent.count;
    return {};
  }
  nodes_ = &nodes;
  const std::optional<stored_extent> before = std::exchange(last_, extent);
  return before ? append(*before, nodes) : status();
}

status pending_entry::append(const stored_extent& extent, node_receiver& nodes) {
  if (list_) return list_->add(extent);
  if (entry.extents.size() < most_inline_extents) {
    entry.extents.push_back(extent);
    return {};
  }
  list_.emplace(node_kind::extents, nodes);
  for (const stored_extent& each : std::exchange(entry.extents, {})) CUTPOINT_RETURN_IF_FAILED(list_->add(each));
  return list_->add(extent);
}

void pending_entry::restart() {
  last_.reset();
  list_.reset();
  entry.extents.clear();
}

status pending_entry::complete() {
  if (last_) CUTPOINT_RETURN_IF_FAILED(append(*std::exchange(last_, std::nullopt), *nodes_));
  if (list_) {
    CUTPOINT_TRY(entry.node, list_->finish());
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
    CUTPOINT_RETURN_IF_FAILED(perform(std::move(next)));
  }
  return {};
}

status tree_builder::perform(step next) {
  if (next.entry) return write_entry(next);
  if (next.folder) {
    folders_.push_back({std::move(*next.folder), node_list_writer(node_kind::folder, nodes_)});
    return {};
  }
  CUTPOINT_TRY(const auto node, folders_.back().entries.finish());
  folder_entry folder = std::move(folders_.back().entry);
  folder.node = node;
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
  CUTPOINT_RETURN_IF_FAILED(write_complete());
  assert(steps_.empty() && folders_.size() == 1);
  return folders_.front().entries.finish();
}

bool is_same(const std::timespec& a, const std::timespec& b) noexcept {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_unchanged(const folder_entry& stored, const tree_entry& entry) noexcept {
  const bool is_trusted = !is_same(stored.changed, {});
  return is_trusted && stored.kind == entry.kind && stored.size == entry.size && stored.inode == entry.inode &&
         is_same(stored.modified, entry.modified) && is_same(stored.changed, entry.changed);
}

result<parent_tree> parent_tree::make(const store_reading& store, std::optional<record_reference> root) {
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  parent_tree tree(store, std::move(check));
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
    CUTPOINT_RETURN_IF_FAILED(store_.shards.locate(record_kind::chunk, digests, records));
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

namespace {

/// Longer paths can be used in parts only (PATH_MAX), and a tree is no deeper.
constexpr std::size_t longest_path = 4096;
/// More than Linux lists of a file. Their fields fit into a node, with all bytes that attributes may have.
constexpr std::size_t most_attributes = 16'384;

status refused(std::string_view path, std::string_view why) {
  return {status_code::invalid_argument, fmt::format("{}: {}", path, why)};
}

bool has_zero_byte(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// Checks what a node takes (`decode_node`).
status check_metadata(const folder_entry& entry, const std::string& path) {
  constexpr std::uint32_t known_flags = immutable_flag | append_only_flag | no_dump_flag;
  if (entry.permissions > 07777 || (entry.flags & ~known_flags) != 0) {
    return refused(path, "its permissions have bits beyond 07777, or its flags have unknown bits");
  }
  if (entry.modified.tv_nsec < 0 || entry.modified.tv_nsec >= 1'000'000'000) {
    return refused(path, "the nanoseconds of its mtime are not from 0 to 999,999,999");
  }
  if (entry.target.empty() == (entry.kind == file_kind::symbolic_link) || entry.target.size() > longest_path ||
      has_zero_byte(entry.target)) {
    return refused(
        path, fmt::format("a symbolic link has a target of 1 to {} bytes, and no other file has one", longest_path));
  }
  if (entry.attributes.size() > most_attributes) {
    return refused(
        path, fmt::format("it has {} extended attributes: {} are possible", entry.attributes.size(), most_attributes));
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < entry.attributes.size(); ++i) {
    const extended_attribute& each = entry.attributes[i];
    const bool is_repeated = i != 0 && each.name == entry.attributes[i - 1].name;
    if (each.name.empty() || each.name.size() > 255 || has_zero_byte(each.name) || is_repeated ||
        each.value.size() > largest_attribute_bytes) {
      return refused(
          path, fmt::format("its extended attribute '{}' is repeated, or its name or value is too long", each.name));
    }
    bytes += each.name.size() + each.value.size();
  }
  if (bytes <= most_attribute_bytes) return {};
  return refused(path, fmt::format("its extended attributes have {} bytes: {} fit", bytes, most_attribute_bytes));
}

}  // namespace

result<folder_entry> entry_of(const pushed_file& file) {
  folder_entry entry{static_cast<const file_metadata&>(file)};
  entry.size = entry.device = entry.inode = 0;
  entry.changed = {};
  entry.link_count = 1;
  entry.attributes = file.attributes;
  std::ranges::sort(entry.attributes, {}, &extended_attribute::name);
  CUTPOINT_RETURN_IF_FAILED(check_metadata(entry, file.path));
  return entry;
}

result<std::vector<std::string_view>> names_in_path(std::string_view path) {
  if (path.empty()) return status(status_code::invalid_argument, "a path in a snapshot is not empty");
  if (path.front() != '/') return refused(path, "a path in a snapshot begins with a slash");
  if (path.size() > longest_path) {
    return status(status_code::invalid_argument,
                  fmt::format("a path of {} bytes: at most {} are possible", path.size(), longest_path));
  }
  std::vector<std::string_view> names;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = path.substr(begin, end - begin);
    if (name.empty()) return refused(path, "it has an empty name, at its end or between two slashes");
    if (!is_entry_name(name)) return refused(path, fmt::format("'{}' is not the name of a file", name));
    if (name.size() > longest_name) {
      return refused(path, fmt::format("a name in it has {} bytes: {} are possible", name.size(), longest_name));
    }
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

status pushed_tree::add(const std::string& path, std::shared_ptr<pending_entry> entry) {
  CUTPOINT_TRY(const auto names, names_in_path(path));
  const auto has_path = [&](const std::string& each) { return each == path || is_below(path, each); };
  if (std::ranges::none_of(paths_, has_path)) return refused(path, "it lies below none of the paths of the snapshot");
  branch* present = &root_;
  for (const std::string_view name : names) {
    if (!present->is_folder()) {
      const auto length = static_cast<std::size_t>(name.data() - path.data()) - 1;
      return refused(path, fmt::format("{} is there already, and is no folder", path.substr(0, length)));
    }
    std::unique_ptr<branch>& next = present->entries[std::string(name)];
    if (!next || (next->entry && next->entry->is_left_out)) next = std::make_unique<branch>();
    present = next.get();
  }
  const bool is_folder = entry->entry.kind == file_kind::directory;
  if (present->entry || (!present->entries.empty() && !is_folder)) return refused(path, "is there already");
  entry->entry.name = names.back();
  present->entry = std::move(entry);
  return {};
}

status pushed_tree::store_entries(const branch& folder, tree_builder& builder, snapshot_statistics& counts) const {
  for (const auto& [name, each] : folder.entries) {
    if (each->is_folder()) {
      folder_entry entry = each->entry ? each->entry->entry : missing_folder_;
      entry.name = name;
      ++counts.folders;
      builder.enter(std::move(entry));
      CUTPOINT_RETURN_IF_FAILED(store_entries(*each, builder, counts));
      builder.leave();
    } else if (!each->entry->is_left_out) {
      ++counts.files;
      counts.bytes += each->entry->entry.size;
      builder.add(each->entry, name);
    }
    CUTPOINT_RETURN_IF_FAILED(builder.write_complete());
  }
  return {};
}

result<record_reference> pushed_tree::store(node_receiver& nodes, snapshot_statistics& counts) const {
  tree_builder builder(nodes, {});
  CUTPOINT_RETURN_IF_FAILED(store_entries(root_, builder, counts));
  return builder.finish();
}

}  // namespace cutpoint::store
