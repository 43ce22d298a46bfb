// What a session writes records with.
#pragma once

#include <memory>

#include "store/index/shard_index.h"
#include "store/objects/snapshot.h"
#include "store/session/deduplicator.h"
#include "store/session/record_writer.h"

namespace cutpoint::store {

/// It does not move, because its members refer to each other.
struct store_writer {
  /// The references must outlive the writer. The index has the containers that `tables` does not leave out. `node_names` as
  /// for `deduplicator`, `most_waiting_entries` as for `record_writer`. Errors: those of the storage and the back ends.
  [[nodiscard]] static result<std::unique_ptr<store_writer>> open(
      const store_config& config, storage& objects, const seal_key& key, table_cache& tables, own_containers& own,
      record_fingerprinter node_names, std::size_t most_waiting_entries = record_writer::usual_waiting_entries);

  store_writer(const store_config& config, shard_index index, record_writer writer, record_fingerprinter node_names)
      : shards(std::move(index)),
        containers(std::move(writer)),
        records(config, shards, containers, std::move(node_names)) {}

  /// Makes everything durable that was stored, and puts down how much that is. Errors: those of the storage.
  [[nodiscard]] status finish(snapshot_statistics& statistics);

  shard_index shards;
  record_writer containers;
  deduplicator records;
};

}  // namespace cutpoint::store
