#include "store/repair/tree_rewrite.h"

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

struct level {
  folder_entry entry;
  folder_cursor old_entries;
  node_list_writer entries;
};

}  // namespace

result<record_reference> write_rest_of_tree(const record_reference& root, tree_audit& audited, node_receiver& nodes,
                                            const cancellation* cancel) {
  std::size_t path_bytes = 1;
  std::vector<level> levels;
  levels.push_back({{}, folder_cursor(root, audited.nodes()), node_list_writer(node_kind::folder, nodes)});
  for (;;) {
    if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
    auto next = levels.back().old_entries.next();
    if (!next && !is_damage(next.error())) return next.error();
    if (!next) continue;  // the cursor goes on behind the entries that are lost
    if (!*next) {
      const auto node = levels.back().entries.finish();
      if (!node) return node.error();
      folder_entry folder = std::move(levels.back().entry);
      levels.pop_back();
      if (levels.empty()) return *node;
      path_bytes -= folder.name.size() + 1;
      folder.node = *node;
      if (status added = levels.back().entries.add(folder); !added.ok()) return added;
      continue;
    }
    folder_entry& entry = **next;
    if (entry.kind == file_kind::directory && entry.node && !audited.is_whole_folder(*entry.node) &&
        path_bytes + entry.name.size() < longest_stored_path) {
      path_bytes += entry.name.size() + 1;
      const record_reference node = *entry.node;
      levels.push_back(
          {std::move(entry), folder_cursor(node, audited.nodes()), node_list_writer(node_kind::folder, nodes)});
      if (levels.size() > most_folders_with_nodes) {
        levels[levels.size() - 1 - most_folders_with_nodes].old_entries.release_nodes();
      }
      continue;
    }
    if (entry.kind != file_kind::directory) {
      const status whole = audited.audit_file(entry);
      if (!whole.ok() && !is_damage(whole)) return whole;
      if (!whole.ok()) continue;
    } else if (!entry.node || !audited.is_whole_folder(*entry.node)) {
      continue;
    }
    if (status added = levels.back().entries.add(entry); !added.ok()) return added;
  }
}

}  // namespace cutpoint::store
