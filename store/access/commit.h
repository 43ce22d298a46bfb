// Commits a backup.
#pragma once

#include "store/access/open_store.h"
#include "store/objects/lease.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

/// Puts a snapshot with the next sequence number, durably, and gives the lease up. The records that it refers to must be
/// durable. `objects` is the storage of the session.
///
/// If the lease does not exist any more, another process may have taken the session for dead, and what the snapshot refers
/// to may be removed. Then the lease is taken again, and all records of the snapshot are looked up after that. If one is
/// missing, nothing is committed; that is an error which names a file and its record. Errors: those of the storage.
[[nodiscard]] result<open_store::listed_snapshot> commit_snapshot(open_store& opened_store, storage& objects,
                                                                  held_lease& lease, snapshot facts);

}  // namespace cutpoint::store
