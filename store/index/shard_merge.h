// Merges shards, and decides which shards to merge.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/storage.h>

#include "store/crypto/sealer.h"
#include "store/index/shard.h"

namespace cutpoint::store {

/// Writes one shard with the entries of all `inputs`, and returns its id. Entries of containers for which `keeps`
/// returns false are left out, and of equal entries all but one. Memory: that of a shard_writer, that of one partition of
/// each input, and 40 bytes for each container of an input. Errors: those of the storage; memory_limit, if the inputs
/// have more than `most_shard_containers` containers. The inputs are not removed: a caller removes them when the new
/// shard is durable.
[[nodiscard]] result<std::string> merge_shards(storage& objects, seal_kind seal, std::span<const shard* const> inputs,
                                               const std::function<bool(const container_name&)>& keeps);

/// Returns the indices of the shards that should be merged now, or none. After the merge every shard has at least as
/// many entries as all smaller ones together, so that n entries are in at most log2(n) shards, and an entry is written
/// about as often. `entry_counts` may be in any order.
[[nodiscard]] std::vector<std::size_t> shards_to_merge(std::span<const std::uint64_t> entry_counts);

}  // namespace cutpoint::store
