// Makes a damaged store consistent for what is left.
#pragma once

#include <cutpoint/store.h>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// Reads the whole store, and makes it consistent for what is left. The records that are whole in damaged containers are stored
/// again, and then these containers are condemned by the log: they hold nothing any more, and the next prune removes them. The
/// index gets shards for the containers that no whole shard names. Each snapshot that lost files is replaced by one without
/// them, which is marked incomplete and has the same sequence number; a snapshot that cannot be read does not count any more.
///
/// Nothing but damaged shards is removed, and everything new is durable before the log says so. So a repair may be interrupted
/// and repeated, and other sessions may run meanwhile. Nothing is condemned that cannot be read for another reason than damage.
///
/// Errors: those of the storage, except damage; unavailable, if a newer version wrote an object; cancelled.
[[nodiscard]] result<store_repair_summary> repair_store(open_store& opened_store, const store_repair_options& options);

}  // namespace cutpoint::store
