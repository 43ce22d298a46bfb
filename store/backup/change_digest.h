// Compares entries of a backup with those of its parent snapshot.
#pragma once

#include <cstdint>

#include "store/tree/node.h"

namespace cutpoint::store {

/// Returns a digest of everything that is stored of an entry, except what changes without a change of the file: its ctime,
/// which is stored when it can be trusted, the number of its file system, and what a folder has.
[[nodiscard]] std::uint64_t change_digest(const folder_entry& entry);

}  // namespace cutpoint::store
