#include "store/access/leased_session.h"

#include <new>
#include <utility>

#include <cutpoint/text.h>

#include "store/access/ended_sessions.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::chrono::minutes lease_duration(30);
/// Containers that wait for the helper thread.
constexpr std::size_t pending_containers = 2;

}  // namespace

result<std::unique_ptr<leased_session>> leased_session::begin(open_store& opened_store) {
  std::unique_ptr<leased_session> session(new leased_session(opened_store));
  session->name_ = new_session_id();
  static_cast<void>(read_hex(session->name_, session->containers_.session));  // it is one that this program has made
  if (status ended = end_expired_sessions(opened_store); !ended.ok()) return ended;
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
  if (status indexed = session->make_lost_index(); !indexed.ok()) return indexed;
  session->objects_ = opened_store.open_storage(session->name_, pending_containers);
  return session;
}

/// Puts shards for all containers, if there is none. Nothing else lists all containers in the normal course.
status leased_session::make_lost_index() {
  const auto shards = opened_store_.objects().list(object_kind::shard);
  if (!shards) return shards.error();
  if (!shards->empty()) return {};
  const status put = index_containers(*open_storage(), opened_store_.key(), "");
  // Without room they stay unnamed: what they have is stored again, and a prune frees room.
  return is_lack_of_room(put) ? status() : put;
}

leased_session::~leased_session() {
  objects_.reset();  // removes its temporary files
  if (!lease_) return;
  try {
    if (leave_nothing_unnamed().ok()) static_cast<void>(lease_->give_up());
  } catch (const std::bad_alloc&) {  // it will expire
  }
}

/// Nobody but the session refers to a container that no shard names, so it may remove its own. But others that took the lease for
/// expired may have put shards for some of them, or be about to.
status leased_session::leave_nothing_unnamed() {
  if (containers_.unnamed.empty()) return {};
  const std::string prefix = container_prefix(name_);
  const status indexed = index_containers(*open_storage(), opened_store_.key(), prefix);
  if (indexed.ok() || lease_->may_have_expired()) return indexed;
  const auto removing = open_storage();  // a storage that has failed stays failed
  const auto unnamed = unnamed_containers(*removing, opened_store_.key(), prefix);
  if (!unnamed) return unnamed.error();
  for (const std::string& each : *unnamed) {
    if (status removed = removing->remove({object_kind::container, each}); !removed.ok()) return removed;
  }
  return removing->sync();
}

result<shard_index> leased_session::open_shards() {
  return shard_index::open(*objects_, opened_store_.key().kind(), *tables_);
}

result<record_writer> leased_session::open_records() {
  return record_writer::make(*objects_, opened_store_.key(), opened_store_.config().container_bytes, containers_);
}

result<std::unique_ptr<store_writer>> leased_session::open_writer() {
  return opened_store_.open_writer(*objects_, *tables_, containers_, log_);
}

}  // namespace cutpoint::store
