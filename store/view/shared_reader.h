// Reads records for many threads at once, and keeps those that were used last in memory.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/files/store_reading.h"
#include "store/index/table_cache.h"
#include "store/session/record_reader.h"
#include "store/view/recent_cache.h"

namespace cutpoint::store {

/// Thread-safe. The index is mapped again when a record is lost and the store has got other shards since: so records are
/// found that other processes have written or moved. A record that is gone is damage, never absence, which means that a
/// path does not exist.
class shared_reader final : public record_source {
 public:
  /// Keeps nodes, chunks and tables of `memory_bytes` together. `objects`, the key and what the function needs must outlive
  /// the reader. `make_fingerprinter` as in `store_reading`.
  shared_reader(storage& objects, const seal_key& key, std::function<result<record_fingerprinter>()> make_fingerprinter,
                std::uint64_t memory_bytes);

  /// Reads a node anew: only decoded nodes are kept.
  [[nodiscard]] result<std::vector<std::uint8_t>> read_node(const record_reference& node) override;
  [[nodiscard]] result<std::shared_ptr<const decoded_node>> decode(const record_reference& node) override;
  [[nodiscard]] result<std::shared_ptr<const std::vector<std::uint8_t>>> share_chunk(
      const record_reference& chunk) override;
  /// Returns the chunk with its compressed form. It is read anew. Errors: as for `share_chunk`.
  [[nodiscard]] result<stored_chunk> read_stored_chunk(const record_reference& chunk);

 private:
  /// What one thread at a time reads with.
  struct single_reader {
    single_reader(storage& objects, const seal_key& key, shard_index mapped, record_fingerprinter check)
        : shards(std::move(mapped)), records(objects, key, shards, std::move(check)) {}

    shard_index shards;
    record_reader records;
  };
  /// The index as it was when its shards were listed.
  struct mapped_index {
    mapped_index(std::vector<std::string> listed, storage& objects, const seal_key& key, std::size_t table_bytes)
        : shard_ids(std::move(listed)), tables(objects, key, table_bytes) {}

    std::vector<std::string> shard_ids;  ///< sorted
    table_cache tables;
    std::mutex mutex;
    std::vector<std::unique_ptr<single_reader>> idle;
  };

  template <class Content>
  [[nodiscard]] result<Content> read(const std::function<result<Content>(record_reader&)>& read_once);
  [[nodiscard]] result<std::unique_ptr<single_reader>> take(mapped_index& index);
  [[nodiscard]] result<std::shared_ptr<mapped_index>> newer_index(const std::shared_ptr<mapped_index>& known);

  storage& objects_;
  const seal_key& key_;
  std::function<result<record_fingerprinter>()> make_fingerprinter_;
  std::size_t table_bytes_;
  recent_cache<decoded_node> nodes_;
  recent_cache<std::vector<std::uint8_t>> chunks_;
  std::mutex mutex_;
  std::shared_ptr<mapped_index> index_;  ///< null before the first read
};

}  // namespace cutpoint::store
