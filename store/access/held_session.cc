#include "store/access/held_session.h"

#include <cerrno>
#include <new>
#include <utility>

#include "store/format/hex.h"
#include "store/index/shard_rebuild.h"

namespace cutpoint::store {

namespace {

constexpr std::chrono::minutes lease_duration(30);
/// Containers that wait for the helper thread.
constexpr std::size_t pending_containers = 2;

}  // namespace

result<std::unique_ptr<held_session>> held_session::begin(open_store& opened_store) {
  std::unique_ptr<held_session> session(new held_session(opened_store));
  session->name_ = new_session_id();
  if (status dropped = drop_expired_sessions(*session->open_storage(), opened_store.key()); !dropped.ok())
    return dropped;
  const auto before = opened_store.read_log();
  if (!before) return before.error();
  auto lease = held_lease::take([&opened_store, name = session->name_] { return opened_store.open_storage_of(name); },
                                opened_store.key(), session->name_, lease_duration, before->newest);
  if (!lease) return lease.error();
  session->lease_ = std::move(*lease);
  auto log = opened_store.read_log();
  if (!log) return log.error();
  session->log_ = std::move(*log);
  // The tables that `opened_store` has in memory may be of containers that were removed.
  session->tables_ = std::make_unique<table_cache>(opened_store.objects(), opened_store.key(), table_cache::usual_bytes,
                                                   session->log_.unusable());
  if (status indexed = session->index_unnamed_containers(); !indexed.ok()) return indexed;
  session->objects_ = opened_store.open_storage(session->name_, pending_containers);
  return session;
}

status held_session::index_unnamed_containers() {
  const auto objects = open_storage();
  const auto shards = shard_index::open(*objects, opened_store_.key().kind(), *tables_);
  if (!shards) return shards.error();
  const auto ids = shards->unnamed_containers();
  if (!ids) return ids.error();
  if (ids->empty()) return {};
  // No shard names a container that is not durable, whoever wrote that.
  if (status synced = objects->sync_kind(object_kind::container); !synced.ok()) return synced;
  status put = put_shards_of(*objects, opened_store_.key(), *ids);
  if (put.ok()) put = objects->sync();
  // Without room they stay unnamed: what they have is stored again, and a prune frees room.
  return put.system_error() == ENOSPC || put.system_error() == EDQUOT ? status() : put;
}

held_session::~held_session() {
  objects_.reset();  // removes its temporary files
  if (!lease_) return;
  try {
    static_cast<void>(lease_->give_up());
  } catch (const std::bad_alloc&) {  // it will expire
  }
}

std::array<std::uint8_t, 16> held_session::id() const {
  std::array<std::uint8_t, 16> bytes = {};
  static_cast<void>(read_hex(name_, bytes));  // it is one that this program has made
  return bytes;
}

result<shard_index> held_session::open_shards() {
  return shard_index::open(*objects_, opened_store_.key().kind(), *tables_);
}

result<std::unique_ptr<session_writer>> held_session::open_writer() {
  auto nodes = record_fingerprinter::fastest(opened_store_.fingerprint());
  if (!nodes) return nodes.error();
  return session_writer::open(opened_store_.config(), *objects_, opened_store_.key(), *tables_, *std::move(nodes));
}

}  // namespace cutpoint::store
