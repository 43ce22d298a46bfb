// Compares two stored trees.
#pragma once

#include <cutpoint/store_diff.h>

#include "store/files/store_reading.h"

namespace cutpoint::store {

/// Compares the folders `before` and `after`; of `options`, the snapshots and paths are not used. Equal folders, and equal
/// nodes of long folders, are not read. Memory: the open nodes of a few folders, an entry for each folder on the way, and
/// what `compare_contents` takes. Errors: those of `options.visit`; cancelled.
[[nodiscard]] result<store_diff_summary> compare_trees(const record_reference& before, const record_reference& after,
                                                       node_source& nodes, const store_diff_options& options);

}  // namespace cutpoint::store
