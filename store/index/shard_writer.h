// Writes a shard from sorted entries, one partition after the other, in bounded memory.
#pragma once

#include <span>
#include <vector>

#include <cutpoint/storage.h>

#include "store/crypto/checksum_sealer.h"
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

}  // namespace cutpoint::store
