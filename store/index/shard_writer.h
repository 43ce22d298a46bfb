// Writes shards from sorted entries, in bounded memory: new ones, merges of several, and those of containers that lost theirs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <cutpoint/storage.h>

#include "store/format/sealer.h"
#include "store/index/shard.h"

namespace cutpoint::store {

/// Not thread-safe. Memory: about 50 bytes for each entry of a partition, which has 2^17 entries on average.
class shard_writer {
 public:
  /// `containers` are those that entries refer to, sorted, at most `most_shard_containers`. `most_entries` is at least the
  /// number of entries that will be appended; the number of partitions depends on it. `object` must outlive the writer.
  shard_writer(object_writer& object, const object_salt& salt, seal_kind seal,
               std::span<const shard_container> containers, std::uint64_t most_entries);
  /// Appends an entry that is not less than the one before. Errors: those of the object.
  [[nodiscard]] status append(const shard_entry& entry);
  /// Writes the end of the shard and finishes the object. Errors: those of the object.
  [[nodiscard]] status finish();

 private:
  void write(byte_span bytes);
  void write_partition();

  object_writer& object_;
  running_checksum checksum_;  ///< of everything before the directory
  unsigned partition_bits_ = 0;
  std::uint32_t container_count_;
  std::uint64_t position_ = 0;
  std::uint64_t entry_count_ = 0;
  std::vector<shard_entry> partition_;  ///< the entries of the partition that is not complete
  std::vector<std::uint8_t> directory_;
  status outcome_;  ///< the first failure
};

/// Puts a shard with entries that fit into memory, and returns its id. Containers and entries may be in any order. Errors: those of the storage.
[[nodiscard]] result<std::string> put_shard(storage& objects, seal_kind seal,
                                            std::span<const shard_container> containers,
                                            std::vector<shard_entry> entries);

/// Makes a shard in memory, whose id is empty. Containers and entries may be in any order. Errors: backend_failure.
[[nodiscard]] result<shard> make_shard(seal_kind seal, std::span<const shard_container> containers,
                                       std::vector<shard_entry> entries);

/// Returns a random id for a new shard. Shards are not named by their bytes, so that they can be written as they are made.
[[nodiscard]] std::string new_shard_id();

/// Writes one shard with the entries of all `inputs`, and returns its id. Entries of containers for which `keeps`
/// returns false are left out, and of equal entries all but one. Memory: that of a shard_writer, that of one partition of
/// each input, and 40 bytes for each container of an input. Errors: those of the storage; memory_limit, if the inputs
/// have more than `most_shard_containers` containers. The inputs are not removed: a caller removes them when the new
/// shard is durable.
[[nodiscard]] result<std::string> merge_shards(storage& objects, seal_kind seal, std::span<const shard* const> inputs,
                                               const std::function<bool(const container_name&)>& keeps);

/// A merge makes no shard with more entries than this, which are 2 GiB, at 14 bytes each with their filters: some storages take no
/// object of more than 5 GiB at once.
inline constexpr std::uint64_t most_merged_entries = 2 * GiB / 14;

/// Returns the indices of the shards that should be merged now, or none. After the merge every shard has at least as
/// many entries as all smaller ones together, unless these would have more than `most_merged_entries` with it. So n entries are in at
/// most log2(n) shards, besides those of half that number and more, and an entry is written about as often. `entry_counts` may be in
/// any order.
[[nodiscard]] std::vector<std::size_t> shards_to_merge(std::span<const std::uint64_t> entry_counts);

/// Puts shards with the records of containers, which are read by their tables. Containers that are damaged or do not
/// exist are left out. Memory: about 100 MiB. Errors: other failures of the storage; unavailable, if a newer version wrote
/// a container; those of the key.
[[nodiscard]] status put_shards_of(storage& objects, const seal_key& key, std::span<const std::string> containers);

}  // namespace cutpoint::store
