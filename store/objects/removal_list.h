// Removal lists: the containers that a prune will remove.
#pragma once

#include <set>

#include "store/crypto/sealer.h"
#include "store/index/shard.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

/// Returns the containers of all removal lists. A list that is removed meanwhile is left out: what it named is removed
/// already, or will not be. Errors: those of the storage; damage.
[[nodiscard]] result<std::set<container_name>> read_removal_lists(storage& objects, const seal_key& key);

}  // namespace cutpoint::store
