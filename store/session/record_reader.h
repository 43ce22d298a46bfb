// Reads records by their digests.
#pragma once

#include <vector>

#include "store/crypto/record_fingerprinter.h"
#include "store/index/shard_index.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

/// Finds records by the index, and compares each with its digest. Not thread-safe. The arguments must outlive the reader.
class record_reader final : public node_source {
 public:
  /// `check` makes digests by the recipe of the store.
  record_reader(storage& objects, const seal_key& key, shard_index& shards, record_fingerprinter check)
      : objects_(objects), key_(key), shards_(shards), check_(std::move(check)) {}

  /// Returns the content of a chunk. Errors: those of the storage and of the index; damage, also if no container has the
  /// record.
  [[nodiscard]] result<std::vector<std::uint8_t>> read_chunk(const record_reference& chunk);
  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override;

 private:
  [[nodiscard]] result<std::vector<std::uint8_t>> read(record_kind kind, const record_reference& record);
  [[nodiscard]] status compare(const record_reference& record, byte_span content);

  storage& objects_;
  const seal_key& key_;
  shard_index& shards_;
  record_fingerprinter check_;
};

}  // namespace cutpoint::store
