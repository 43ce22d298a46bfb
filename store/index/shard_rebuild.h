// Makes shards from containers.
#pragma once

#include <span>
#include <string>

#include <cutpoint/storage.h>

#include "store/crypto/sealer.h"
#include "store/index/shard.h"

namespace cutpoint::store {

/// Puts shards with the records of containers, which are read by their tables. Containers that are damaged or do not
/// exist are left out. Memory: about 100 MiB. Errors: other failures of the storage; unavailable, if a newer version wrote
/// a container; those of the key.
[[nodiscard]] status put_shards_of(storage& objects, const seal_key& key, std::span<const std::string> containers);

}  // namespace cutpoint::store
