// Writes the tree of a snapshot again without what is lost.
#pragma once

#include "store/check/tree_audit.h"
#include "store/tree/node_list_writer.h"

namespace cutpoint::store {

/// Returns the root of a tree that has everything that `audited` can read of the tree at `root`. Files whose content is
/// lost in part are left out. Folders that are whole are not written again. Errors: those of `nodes`; cancelled.
[[nodiscard]] result<record_reference> write_rest_of_tree(const record_reference& root, tree_audit& audited,
                                                          node_receiver& nodes, const cancellation* cancel);

}  // namespace cutpoint::store
