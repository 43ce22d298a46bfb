#include "store/access/ended_sessions.h"

#include "store/format/failure.h"
#include "store/index/shard_rebuild.h"
#include "store/objects/lease.h"

namespace cutpoint::store {

result<std::vector<std::string>> unnamed_containers(storage& objects, const seal_key& key, const std::string& prefix) {
  auto ids = objects.list(object_kind::container, prefix);
  if (!ids || ids->empty()) return ids;
  table_cache tables(objects, key, 0);
  const auto shards = shard_index::open(objects, key.kind(), tables);
  if (!shards) return shards.error();
  shards->leave_unnamed(*ids);
  return ids;
}

status index_containers(storage& objects, const seal_key& key, const std::string& prefix) {
  const auto ids = unnamed_containers(objects, key, prefix);
  if (!ids) return ids.error();
  if (ids->empty()) return {};
  // No shard names a container that is not durable, whoever wrote that.
  if (status synced = objects.sync_kind(object_kind::container, prefix); !synced.ok()) return synced;
  if (status put = put_shards_of(objects, key, *ids); !put.ok()) return put;
  return objects.sync();
}

status end_sessions(open_store& opened_store, const std::set<std::string>& sessions) {
  const auto objects = opened_store.open_storage_of(new_session_id());
  for (const std::string& each : sessions) {
    const status indexed = index_containers(*objects, opened_store.key(), container_prefix(each));
    if (!indexed.ok()) return indexed;
  }
  return remove_sessions(*objects, sessions);
}

status end_expired_sessions(open_store& opened_store) {
  const auto expired = expired_sessions(opened_store.objects(), opened_store.key());
  if (!expired) return expired.error();
  for (const std::string& each : *expired) {
    const status ended = end_sessions(opened_store, {each});
    if (!ended.ok() && !is_lack_of_room(ended)) return ended;
  }
  return {};
}

}  // namespace cutpoint::store
