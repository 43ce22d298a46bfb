// Ends sessions that others have left.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// Returns the containers whose ids begin with `prefix` and that no shard names. Errors: those of the storage.
[[nodiscard]] result<std::vector<std::string>> unnamed_containers(storage& objects, const seal_key& key,
                                                                  const std::string& prefix);

/// Makes the containers durable whose ids begin with `prefix` and that no shard names, whoever has put them, and puts shards for
/// them, durably. Errors: those of the storage; as for `put_shards_of`.
[[nodiscard]] status index_containers(storage& objects, const seal_key& key, const std::string& prefix);

/// Ends sessions: puts shards for what they have stored, so that the next backup uses it and a prune finds it, and then removes
/// their temporary files and leases, durably. A container that no shard names is always one of a session that has a lease. Errors:
/// those of the storage; as for `put_shards_of`.
[[nodiscard]] status end_sessions(open_store& opened_store, const std::set<std::string>& sessions);

/// Does that for the sessions whose leases have expired. Without room for shards they keep their leases, which nobody waits for.
/// Errors: as for `end_sessions`.
[[nodiscard]] status end_expired_sessions(open_store& opened_store);

}  // namespace cutpoint::store
