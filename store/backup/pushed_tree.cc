#include "store/backup/pushed_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/backup/named_paths.h"

namespace cutpoint::store {

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
  if (status checked = check_metadata(entry, file.path); !checked.ok()) return checked;
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
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

status pushed_tree::add(const std::string& path, std::shared_ptr<pending_entry> entry) {
  const auto names = names_in_path(path);
  if (!names) return names.error();
  const auto has_path = [&](const std::string& each) { return each == path || is_below(path, each); };
  if (std::ranges::none_of(paths_, has_path)) return refused(path, "it lies below none of the paths of the snapshot");
  branch* present = &root_;
  for (const std::string_view name : *names) {
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
  entry->entry.name = names->back();
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
      if (status stored = store_entries(*each, builder, counts); !stored.ok()) return stored;
      builder.leave();
    } else if (!each->entry->is_left_out) {
      ++counts.files;
      counts.bytes += each->entry->entry.size;
      builder.add(each->entry, name);
    }
    if (status written = builder.write_complete(); !written.ok()) return written;
  }
  return {};
}

result<record_reference> pushed_tree::store(node_receiver& nodes, snapshot_statistics& counts) const {
  tree_builder builder(nodes, {});
  if (status stored = store_entries(root_, builder, counts); !stored.ok()) return stored;
  return builder.finish();
}

}  // namespace cutpoint::store
