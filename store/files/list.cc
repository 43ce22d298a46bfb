#include "store/files/list.h"

#include <utility>
#include <vector>

#include "store/format/failure.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

namespace {

struct open_folder {
  folder_cursor entries;
  std::size_t path_bytes;  ///< length of its path, with a slash at the end
};

}  // namespace

status visit_tree(const folder_entry& top, const std::string& path, node_source& nodes,
                  const std::function<status(const std::string& path, const folder_entry& entry)>& visit) {
  if (status visited = visit(path, top); !visited.ok()) return visited;
  std::vector<open_folder> open;
  std::string here = path;
  const auto enter = [&](const folder_entry& folder) {
    if (!here.ends_with('/')) here += '/';
    open.push_back({folder_cursor(*folder.node, nodes), here.size()});
  };
  if (top.kind == file_kind::directory && top.node) enter(top);
  while (!open.empty()) {
    here.resize(open.back().path_bytes);
    auto entry = open.back().entries.next();
    if (!entry) return entry.error();
    if (!*entry) {
      open.pop_back();
      continue;
    }
    here += (*entry)->name;
    if (here.size() > longest_stored_path) return damage(here.substr(0, 64) + "...", "the path is too long");
    if (status visited = visit(here, **entry); !visited.ok()) return visited;
    if ((*entry)->kind != file_kind::directory || !(*entry)->node) continue;
    enter(**entry);
    if (open.size() > most_folders_with_nodes) {
      open[open.size() - 1 - most_folders_with_nodes].entries.release_nodes();
    }
  }
  return {};
}

}  // namespace cutpoint::store
