// Copies the tree of a snapshot into another store.
#pragma once

#include <cutpoint/source.h>

#include "store/copy/content_copier.h"
#include "store/session/record_reader.h"

namespace cutpoint::store {

/// Writes a tree with the files of another one, whose contents `contents` copies, and returns its root. Memory: as for a
/// backup. Errors: those of the target; cancelled. If the source has failed, `source_failure` says why, with the path.
[[nodiscard]] result<record_reference> copy_tree(const record_reference& root, record_source& source,
                                                 content_copier& contents, node_receiver& nodes,
                                                 const cancellation* cancel, status& source_failure);

}  // namespace cutpoint::store
