#include "store/session/store_writer.h"

namespace cutpoint::store {

result<std::unique_ptr<store_writer>> store_writer::open(const store_config& config, storage& objects,
                                                         const seal_key& key, table_cache& tables, own_containers& own,
                                                         record_fingerprinter node_names,
                                                         std::size_t most_waiting_entries) {
  auto shards = shard_index::open(objects, key.kind(), tables);
  if (!shards) return shards.error();
  auto containers = record_writer::make(objects, key, config.container_bytes, own, most_waiting_entries);
  if (!containers) return containers.error();
  return std::make_unique<store_writer>(config, *std::move(shards), *std::move(containers), std::move(node_names));
}

status store_writer::finish(snapshot_statistics& statistics) {
  if (status finished = records.finish(); !finished.ok()) return finished;
  statistics.new_raw_bytes = containers.raw_bytes();
  statistics.new_stored_bytes = containers.stored_bytes();
  return {};
}

}  // namespace cutpoint::store
