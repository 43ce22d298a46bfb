// Makes other versions of snapshots: with other tags, or without some files.
#pragma once

#include <cutpoint/store.h>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// Replaces each snapshot whose tags change by one with the new tags, in an entry of the log. Errors: those of the storage and of
/// sessions; invalid_argument, for a tag; cancelled. Snapshots that were reported before are replaced.
[[nodiscard]] result<store_edit_summary> change_tags(open_store& opened_store, const store_tag_options& options);

/// Makes a version of each snapshot that has files to leave out. Contents are not read, and no record is removed. Memory: open
/// nodes of each folder on the way, and about 100 bytes for each file with several names. Errors: as for `change_tags`.
[[nodiscard]] result<store_edit_summary> rewrite_snapshots(open_store& opened_store,
                                                           const store_rewrite_options& options);

/// Returns an error for a tag that is empty or has a comma.
[[nodiscard]] status check_tags(const std::vector<std::string>& tags);

}  // namespace cutpoint::store
