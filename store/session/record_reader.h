// Reads records by their digests.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <cutpoint/storage.h>

#include "store/crypto/record_fingerprinter.h"
#include "store/index/shard_index.h"
#include "store/tree/node_walk.h"

namespace cutpoint::store {

/// Reads nodes and chunks.
class record_source : public node_source {
 public:
  /// Returns the content of a chunk, which has the digest of the reference. A source that keeps chunks in memory gives the
  /// same to many. Errors: as for `read_node`.
  [[nodiscard]] virtual result<std::shared_ptr<const std::vector<std::uint8_t>>> share_chunk(
      const record_reference& chunk) = 0;
};

/// A chunk, and how its container has it.
struct stored_chunk {
  record_codec codec = record_codec::none;
  std::vector<std::uint8_t> content;
  std::vector<std::uint8_t> frame;  ///< the compressed content; empty without codec
};

/// Finds records by the index, and compares each with its digest. Not thread-safe. The arguments must outlive the reader.
///
/// A record may be in several containers. That of its hint is read first. If it was removed, because another process has
/// moved its records, or if it is damaged, the shards that were put since are mapped, and the others are tried.
class record_reader final : public record_source {
 public:
  /// `check` makes digests by the recipe of the store.
  record_reader(storage& objects, const seal_key& key, shard_index& shards, record_fingerprinter check)
      : objects_(objects), key_(key), shards_(shards), check_(std::move(check)) {}

  /// Returns the content of a chunk. Errors: those of the storage and of the index; damage, also if no container has the
  /// record any more.
  [[nodiscard]] result<std::vector<std::uint8_t>> read_chunk(const record_reference& chunk);
  /// Returns the chunk with its compressed form. Errors: as for `read_chunk`.
  [[nodiscard]] result<stored_chunk> read_stored_chunk(const record_reference& chunk);
  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override;
  [[nodiscard]] result<std::shared_ptr<const std::vector<std::uint8_t>>> share_chunk(
      const record_reference& chunk) override;

 private:
  [[nodiscard]] result<std::vector<std::uint8_t>> read(record_kind kind, const record_reference& record);
  /// Returns what `read_from` makes of the record in a container: that of the hint, or another if that one fails because
  /// the container was removed or is damaged.
  template <class Read>
  [[nodiscard]] auto read_anywhere(record_kind kind, const record_reference& record, Read read_from)
      -> decltype(read_from(std::declval<const found_record&>()));
  [[nodiscard]] status compare(const record_reference& record, byte_span content);

  storage& objects_;
  const seal_key& key_;
  shard_index& shards_;
  record_fingerprinter check_;
};

}  // namespace cutpoint::store
