// Lists the files of a stored tree.
#pragma once

#include <functional>
#include <string>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Calls `visit` for an entry, whose path is `path`, and then for all entries below it, each with its path, in the order of
/// a walk. Memory: open nodes of each folder on the way. Errors: those of `nodes` and of `visit`; damage.
[[nodiscard]] status visit_tree(const folder_entry& top, const std::string& path, node_source& nodes,
                                const std::function<status(const std::string& path, const folder_entry& entry)>& visit);

}  // namespace cutpoint::store
