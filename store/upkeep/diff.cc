// Compares two trees, and two versions of a file.
#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "store/format/failure.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint::store {

namespace {

bool is_set(const std::timespec& time) { return time.tv_sec != 0 || time.tv_nsec != 0; }

/// A ctime of zeros is one that is not known.
bool has_same_change_time(const folder_entry& a, const folder_entry& b) {
  if (!is_set(a.changed) || !is_set(b.changed)) return true;
  return a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec;
}

bool has_same_metadata(const folder_entry& a, const folder_entry& b) {
  const auto facts = [](const folder_entry& each) {
    return std::tie(each.permissions, each.user_id, each.group_id, each.modified.tv_sec, each.modified.tv_nsec,
                    each.inode, each.link_count, each.device_number, each.flags);
  };
  return facts(a) == facts(b) && has_same_change_time(a, b) &&
         std::ranges::equal(a.attributes, b.attributes, [](const auto& left, const auto& right) {
           return left.name == right.name && left.value == right.value;
         });
}

/// The entries of one of the trees, in a folder that one or both have.
class compared_folder {
 public:
  compared_folder(const std::optional<record_reference>& folder, node_source& nodes) {
    if (folder) entries_.emplace(*folder, nodes);
  }

  /// Reads an entry ahead, unless there is one.
  status read_ahead() {
    if (!entries_ || ahead_) return {};
    CUTPOINT_TRY(ahead_, entries_->next());
    return {};
  }
  [[nodiscard]] const std::optional<folder_entry>& ahead() const noexcept { return ahead_; }
  [[nodiscard]] folder_entry take() { return std::move(*std::exchange(ahead_, std::nullopt)); }
  /// Returns the cursor before its next entry, or null if there is none.
  [[nodiscard]] folder_cursor* cursor() noexcept { return entries_ && !ahead_ ? &*entries_ : nullptr; }
  void release_nodes() noexcept {
    if (entries_) entries_->release_nodes();
  }

 private:
  std::optional<folder_cursor> entries_;
  std::optional<folder_entry> ahead_;
};

class tree_comparison {
 public:
  tree_comparison(node_source& nodes, const store_diff_options& options) : nodes_(nodes), options_(options) {}

  result<store_diff_summary> compare(const record_reference& before, const record_reference& after) {
    if (before.content == after.content) return summary_;
    enter("/", before, after);
    while (!levels_.empty()) {
      if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
      level& here = levels_.back();
      path_.resize(here.path_bytes);
      if (const status read = read_ahead(here); !read.ok()) {
        // Entries that one tree has lost would seem to be removed or added.
        report(path_,
               {read.code(), "its entries cannot be compared any further: " + read.message(), read.system_error()});
        levels_.pop_back();
      } else
        CUTPOINT_RETURN_IF_FAILED(compare_next(here));
    }
    return summary_;
  }

 private:
  struct level {
    compared_folder before;
    compared_folder after;
    std::size_t path_bytes;  ///< length of the folder's path, with a slash at the end
  };

  static status read_ahead(level& here) {
    folder_cursor* const before = here.before.cursor();
    folder_cursor* const after = here.after.cursor();
    if (before != nullptr && after != nullptr) {
      CUTPOINT_RETURN_IF_FAILED(folder_cursor::pass_equal_nodes(*before, *after));
    }
    CUTPOINT_RETURN_IF_FAILED(here.before.read_ahead());
    return here.after.read_ahead();
  }

  /// Compares the next name of a folder. Leaves the folder if there is none. May invalidate `here`.
  status compare_next(level& here) {
    const auto& before = here.before.ahead();
    const auto& after = here.after.ahead();
    if (!before && !after) {
      levels_.pop_back();
      return {};
    }
    if (!after || (before && before->name < after->name)) {
      return report_all(here.before.take(), store_change_kind::removed, summary_.removed);
    }
    if (!before || after->name < before->name) {
      return report_all(here.after.take(), store_change_kind::added, summary_.added);
    }
    const folder_entry old_entry = here.before.take();
    const folder_entry new_entry = here.after.take();
    return compare_entries(old_entry, new_entry);
  }

  /// Reports a file that one tree has. What is below a folder follows.
  status report_all(const folder_entry& entry, store_change_kind which, store_diff_side& counts) {
    count(entry, counts);
    CUTPOINT_RETURN_IF_FAILED(report(entry, which));
    if (!is_folder(entry)) return {};
    const bool is_added = which == store_change_kind::added;
    enter(path_of(entry), is_added ? std::nullopt : entry.node, is_added ? entry.node : std::nullopt);
    return {};
  }

  status compare_entries(const folder_entry& before, const folder_entry& after) {
    if (before.kind != after.kind) {
      count(before, summary_.removed);
      count(after, summary_.added);
      CUTPOINT_RETURN_IF_FAILED(report(after, store_change_kind::retyped));
      if (is_folder(before)) enter(path_of(before), before.node, std::nullopt);
      if (is_folder(after)) enter(path_of(after), std::nullopt, after.node);
      return {};
    }
    const bool is_regular = after.kind == file_kind::regular_file;
    if (is_regular ? !has_same_content(before, after) : before.target != after.target) {
      ++summary_.modified;
      if (is_regular) count_difference(before, after);
      return report(after, store_change_kind::modified);
    }
    if (options_.compares_metadata && !has_same_metadata(before, after)) {
      CUTPOINT_RETURN_IF_FAILED(report(after, store_change_kind::metadata));
    }
    if (is_folder(before) && is_folder(after) && before.node->content != after.node->content) {
      enter(path_of(after), before.node, after.node);
    }
    return {};
  }

  void count_difference(const folder_entry& before, const folder_entry& after) {
    const auto difference = compare_contents(before, after, nodes_);
    if (!difference) {
      report(path_ + after.name, difference.error());
      return;
    }
    summary_.removed.bytes += difference->before_bytes;
    summary_.added.bytes += difference->after_bytes;
  }

  static bool is_folder(const folder_entry& entry) {
    return entry.kind == file_kind::directory && entry.node.has_value();
  }

  static void count(const folder_entry& entry, store_diff_side& counts) {
    if (entry.kind == file_kind::directory) {
      ++counts.folders;
    } else if (entry.kind == file_kind::regular_file) {
      ++counts.files;
      counts.bytes += entry.size;
    } else {
      ++counts.others;
    }
  }

  [[nodiscard]] std::string path_of(const folder_entry& entry) const {
    return path_ + entry.name + (entry.kind == file_kind::directory ? "/" : "");
  }

  [[nodiscard]] status report(const folder_entry& entry, store_change_kind which) const {
    return options_.visit ? options_.visit({.path = path_of(entry), .which = which, .kind = entry.kind}) : status();
  }

  void report(const std::string& path, const status& why) {
    ++summary_.problems;
    if (options_.problem) options_.problem(path, why);
  }

  /// Goes on with the entries of a folder. Its path ends with a slash.
  void enter(std::string path, const std::optional<record_reference>& before,
             const std::optional<record_reference>& after) {
    if (path.size() > longest_stored_path) {
      report(path.substr(0, 64) + "...", damage("the folder", "the path is too long"));
      return;
    }
    path_ = std::move(path);
    levels_.push_back({compared_folder(before, nodes_), compared_folder(after, nodes_), path_.size()});
    if (levels_.size() <= most_folders_with_nodes) return;
    level& above = levels_[levels_.size() - 1 - most_folders_with_nodes];
    above.before.release_nodes();
    above.after.release_nodes();
  }

  node_source& nodes_;
  const store_diff_options& options_;
  store_diff_summary summary_;
  std::vector<level> levels_;
  std::string path_;  ///< of the folder that is compared, with a slash at the end
};

}  // namespace

result<store_diff_summary> compare_trees(const record_reference& before, const record_reference& after,
                                         node_source& nodes, const store_diff_options& options) {
  return tree_comparison(nodes, options).compare(before, after);
}

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
      CUTPOINT_TRY(const auto node, read_list_node(each, node_kind::extents, level, source));
      for (const stored_extent& extent : node.extents) add(extent);
      for (const child_node& child : node.children) children.push_back(child.node);
      if (node.level != 0) level_below = static_cast<std::uint8_t>(node.level - 1);
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
      CUTPOINT_RETURN_IF_FAILED(each->open(nodes));
      if (each->is_too_long) return content_difference{before.size, after.size};
    }
  }
  std::ranges::sort(old_version.chunks, {}, &chunk_bytes::key);
  std::ranges::sort(new_version.chunks, {}, &chunk_bytes::key);
  return content_difference{bytes_of_others(old_version.chunks, new_version.chunks),
                            bytes_of_others(new_version.chunks, old_version.chunks)};
}

}  // namespace cutpoint::store
