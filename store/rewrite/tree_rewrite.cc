#include "store/rewrite/tree_rewrite.h"

#include <utility>
#include <vector>

#include "store/files/store_reading.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

struct level {
  folder_entry entry;
  folder_cursor old_entries;
  node_list_writer entries;
  std::size_t path_bytes;  ///< length of the folder's path with a slash at its end
};

}  // namespace

result<record_reference> rewrite_tree(const record_reference& root, node_source& source, tree_filter& filter,
                                      node_receiver& nodes, const cancellation* cancel) {
  std::string path = "/";
  std::vector<level> levels;
  levels.push_back({{}, folder_cursor(root, source), node_list_writer(node_kind::folder, nodes), path.size()});
  for (;;) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    path.resize(levels.back().path_bytes);
    auto next = levels.back().old_entries.next();
    if (!next && !is_damage(next.error())) return next.error();
    if (!next) {  // the cursor goes on behind the entries that are lost
      if (status passed = filter.pass_lost_entries(path, next.error()); !passed.ok()) return passed;
      continue;
    }
    if (!*next) {
      const auto node = levels.back().entries.finish();
      if (!node) return node.error();
      folder_entry folder = std::move(levels.back().entry);
      levels.pop_back();
      if (levels.empty()) return *node;
      folder.node = *node;
      if (status added = levels.back().entries.add(folder); !added.ok()) return added;
      continue;
    }
    folder_entry& entry = **next;
    path += entry.name;
    const auto chosen = filter.choose(path, entry);
    if (!chosen) return chosen.error();
    if (*chosen == tree_filter::choice::keep) {
      if (status added = levels.back().entries.add(entry); !added.ok()) return added;
    } else if (*chosen == tree_filter::choice::enter) {
      if (!entry.node) return damage(path, "it is a folder without entries");
      if (path.size() >= longest_stored_path) return damage(path.substr(0, 64) + "...", "the path is too long");
      path += '/';
      const record_reference node = *entry.node;
      levels.push_back(
          {std::move(entry), folder_cursor(node, source), node_list_writer(node_kind::folder, nodes), path.size()});
      if (levels.size() > most_folders_with_nodes) {
        levels[levels.size() - 1 - most_folders_with_nodes].old_entries.release_nodes();
      }
    }
  }
}

}  // namespace cutpoint::store
