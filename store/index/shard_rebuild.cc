#include "store/index/shard_rebuild.h"

#include <utility>

#include "store/container/container_reader.h"
#include "store/format/failure.h"
#include "store/index/shard_writer.h"
#include "store/index/table_cache.h"

namespace cutpoint::store {

namespace {

/// Entries of 16 bytes that become one shard.
constexpr std::size_t most_shard_entries = std::size_t{1} << 22;

}  // namespace

status put_shards_of(storage& objects, const seal_key& key, std::span<const std::string> containers) {
  std::vector<shard_container> read;
  std::vector<shard_entry> entries;
  const auto put = [&]() -> status {
    if (entries.empty()) return {};
    const auto id = put_shard(objects, key.kind(), read, std::exchange(entries, {}));
    read.clear();
    return id ? status() : id.error();
  };
  for (const std::string& id : containers) {
    const auto name = container_name_of(id);
    const auto table = read_container_table(objects, id, key);
    if (!table && !is_damage(table.error()) && !is_absence(table.error())) return table.error();
    if (!name || !table) continue;
    const auto container = static_cast<std::uint32_t>(read.size());
    read.push_back({*name, hint_of(table->salt), table->container_bytes});
    append_entries(table->records, container, entries);
    if (entries.size() < most_shard_entries) continue;
    if (status done = put(); !done.ok()) return done;
  }
  return put();
}

}  // namespace cutpoint::store
