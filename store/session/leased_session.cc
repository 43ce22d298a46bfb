#include "store/session/leased_session.h"

#include <algorithm>
#include <new>
#include <utility>

#include <cutpoint/text.h>

#include "store/format/clock.h"
#include "store/format/failure.h"
#include "store/index/shard_writer.h"
#include "store/session/tree_audit.h"

namespace cutpoint::store {

constexpr std::chrono::minutes lease_duration(30);
/// Containers that wait for the helper thread.
constexpr std::size_t pending_containers = 2;

result<std::unique_ptr<leased_session>> leased_session::begin(open_store& opened_store) {
  std::unique_ptr<leased_session> session(new leased_session(opened_store));
  session->name_ = new_session_id();
  static_cast<void>(read_hex(session->name_, session->containers_.session));  // it is one that this program has made
  CUTPOINT_RETURN_IF_FAILED(end_expired_sessions(opened_store));
  CUTPOINT_TRY(const auto before, opened_store.follow_log());
  CUTPOINT_TRY(session->lease_,
               held_lease::take([&opened_store, name = session->name_] { return opened_store.open_storage_of(name); },
                                opened_store.key(), session->name_, lease_duration, before->newest));
  CUTPOINT_TRY(session->log_, opened_store.read_log());
  // The tables that `opened_store` has in memory may be of containers that were removed.
  session->tables_ = std::make_unique<table_cache>(opened_store.objects(), opened_store.key(), table_cache::usual_bytes,
                                                   session->log_.unusable());
  CUTPOINT_RETURN_IF_FAILED(session->make_lost_index());
  session->objects_ = opened_store.open_storage(session->name_, pending_containers);
  return session;
}

/// Puts shards for all containers, if there is none. Nothing else lists all containers in the normal course.
status leased_session::make_lost_index() {
  CUTPOINT_TRY(const auto shards, opened_store_.objects().list(object_kind::shard));
  if (!shards.empty()) return {};
  const status put = index_containers(opened_store_, *open_storage(), "");
  // Without room they stay unnamed: what they have is stored again, and a prune frees room.
  return is_lack_of_room(put) ? status() : put;
}

namespace {

/// Returns the whole snapshots that no entry of the log names and whose entries were to be newer than all of these.
result<std::vector<open_store::listed_snapshot>> find_uncommitted(const store_reading& store, const store_log& known) {
  std::vector<open_store::listed_snapshot> uncommitted;
  CUTPOINT_TRY(auto ids, store.objects.list(object_kind::snapshot));
  CUTPOINT_TRY(const auto digest_bytes, store.digest_bytes());
  std::erase_if(ids,
                [&](const std::string& id) { return known.snapshots.contains(id) || known.replaced.contains(id); });
  const auto take = [&](const std::string& id, result<snapshot> facts) {
    if (facts && facts->entry > known.newest) uncommitted.push_back({id, std::move(*facts)});
    return facts || is_damage(facts.error()) || is_absence(facts.error()) ? status() : facts.error();
  };
  CUTPOINT_RETURN_IF_FAILED(read_snapshots(store.objects, ids, digest_bytes, store.key, take));
  return uncommitted;
}

/// Uses the next number of the log, by an entry that commits nothing, if a snapshot was to be committed by it.
status use_next_number(open_store& opened_store) {
  CUTPOINT_TRY(const auto log, opened_store.read_log());
  CUTPOINT_TRY(const auto uncommitted, find_uncommitted(opened_store.reading(), log));
  const bool is_next = std::ranges::any_of(
      uncommitted, [&](const open_store::listed_snapshot& each) { return each.facts.entry == log.newest + 1; });
  if (!is_next) return {};
  // If another uses the number meanwhile, that will do; but the storage has failed then.
  const auto objects = opened_store.open_storage_of(new_session_id());
  const auto number = append_to_log(*objects, opened_store.key(), log, {});
  return number ? status() : number.error();
}

}  // namespace

leased_session::~leased_session() {
  objects_.reset();  // removes its temporary files
  // Others may have freed memory before the second attempt. Otherwise the lease will expire.
  for (int attempts = lease_ ? 2 : 0; attempts > 0; --attempts) {
    try {
      const bool is_clean =
          leave_nothing_unnamed().ok() && (!has_uncommitted_snapshot_ || use_next_number(opened_store_).ok());
      if (is_clean) static_cast<void>(lease_->give_up());
      return;
    } catch (const std::bad_alloc&) {
    }
  }
}

/// Nobody but the session refers to a container that no shard names, so it may remove its own. But others that took the lease for
/// expired may have put shards for some of them, or be about to.
status leased_session::leave_nothing_unnamed() {
  if (containers_.unnamed.empty()) return {};
  const std::string prefix = container_prefix(name_);
  const status indexed = index_containers(opened_store_, *open_storage(), prefix);
  if (indexed.ok() || lease_->may_have_expired()) return indexed;
  const auto removing = open_storage();  // a storage that has failed stays failed
  if (!removing->may_remove(object_kind::container)) return indexed;
  CUTPOINT_TRY(const auto unnamed, unnamed_containers(opened_store_, *removing, prefix));
  for (const std::string& each : unnamed) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(*removing, {object_kind::container, each}));
  }
  return removing->sync();
}

result<shard_index> leased_session::open_shards() { return opened_store_.open_index(*objects_, *tables_); }

result<record_writer> leased_session::open_records() {
  return record_writer::make(*objects_, opened_store_.key(), opened_store_.config().container_bytes, containers_);
}

result<std::unique_ptr<store_writer>> leased_session::open_writer() {
  return opened_store_.open_writer(*objects_, *tables_, containers_, log_);
}

result<std::vector<std::string>> unnamed_containers(open_store& opened_store, storage& objects,
                                                    const std::string& prefix) {
  auto ids = objects.list(object_kind::container, prefix);
  if (!ids || ids->empty()) return ids;
  table_cache tables(objects, opened_store.key(), 0);
  CUTPOINT_TRY(const auto shards, opened_store.open_index(objects, tables));
  shards.leave_unnamed(*ids);
  return ids;
}

status index_containers(open_store& opened_store, storage& objects, const std::string& prefix) {
  CUTPOINT_TRY(const auto ids, unnamed_containers(opened_store, objects, prefix));
  if (ids.empty()) return {};
  // No shard names a container that is not durable, whoever wrote that.
  CUTPOINT_RETURN_IF_FAILED(objects.sync_kind(object_kind::container, prefix));
  CUTPOINT_RETURN_IF_FAILED(put_shards_of(objects, opened_store.key(), ids));
  return objects.sync();
}

result<std::vector<open_store::listed_snapshot>> find_lost_commits(const store_reading& store, const store_log& known) {
  CUTPOINT_TRY(auto lost, find_uncommitted(store, known));
  if (lost.empty()) return lost;
  CUTPOINT_TRY(const auto leases, list_leases(store.objects, store.key));
  CUTPOINT_TRY(const auto log, read_log(store.objects, store.key, [](auto&&...) {}));
  std::erase_if(lost, [&](const open_store::listed_snapshot& each) {
    return log.snapshots.contains(each.id) || each.facts.entry <= log.newest ||
           (each.facts.entry == log.newest + 1 && !leases.empty());
  });
  return lost;
}

status end_sessions(open_store& opened_store, const std::set<std::string>& sessions) {
  const auto objects = opened_store.open_storage_of(new_session_id());
  for (const std::string& each : sessions) {
    CUTPOINT_RETURN_IF_FAILED(index_containers(opened_store, *objects, container_prefix(each)));
  }
  if (!sessions.empty()) CUTPOINT_RETURN_IF_FAILED(use_next_number(opened_store));
  return remove_sessions(*objects, opened_store.key(), sessions);
}

status end_expired_sessions(open_store& opened_store) {
  CUTPOINT_TRY(const auto expired, expired_sessions(opened_store.objects(), opened_store.key()));
  for (const std::string& each : expired) {
    const status ended = end_sessions(opened_store, {each});
    if (!ended.ok() && !is_lack_of_room(ended)) return ended;
  }
  return {};
}

namespace {

/// Looks up all records of a tree in containers that exist and count. The tables are read anew, because those in memory may
/// be of containers that were removed.
status find_all_records(open_store& opened_store, const record_reference& root, std::set<container_name> lost) {
  table_cache tables(opened_store.objects(), opened_store.key(), table_cache::usual_bytes, std::move(lost));
  CUTPOINT_TRY(auto shards, opened_store.open_index(opened_store.objects(), tables));
  const lost_records none;
  cancellation first_problem;
  CUTPOINT_TRY(auto trees, tree_audit::make({opened_store.objects(), opened_store.key(), shards,
                                             opened_store.reading().make_fingerprinter},
                                            none, &first_problem));
  status problem;
  const auto is_whole = trees.audit(root, [&](const std::string& path, const status& why) {
    if (problem.ok()) problem = {why.code(), path + ": " + why.message(), why.system_error()};
    first_problem.request();
  });
  if (problem.ok()) return is_whole ? status() : is_whole.error();
  if (!is_damage(problem)) return problem;
  return {status_code::io_error,
          "data that the backup refers to was removed or found to be damaged meanwhile; nothing was committed: back up "
          "again: " +
              problem.message()};
}

/// Whether everything that was there when a session began is there still.
bool has_lost_nothing(const store_log& begin, const store_log& now) {
  return now.decision == begin.decision && now.condemned == begin.condemned;
}

status no_original(const original_snapshot& original) {
  return {status_code::unavailable, "the snapshot " + original.id + " was removed or replaced meanwhile", ENOENT};
}

}  // namespace

result<open_store::listed_snapshot> commit_snapshot(leased_session& session, snapshot facts,
                                                    const std::optional<original_snapshot>& original) {
  open_store& opened_store = session.target();
  const store_log* verified = &session.log();
  store_log newer;
  if (original) {
    if (facts.original.empty()) facts.original = original->id;
    facts.edited = nanoseconds_now();
  }
  for (;;) {
    CUTPOINT_TRY(const auto log, opened_store.follow_log());
    if (!has_lost_nothing(*verified, *log)) {
      newer = *log;
      verified = &newer;
      CUTPOINT_RETURN_IF_FAILED(find_all_records(opened_store, facts.root, log->lost()));
    }
    if (original && !log->snapshots.contains(original->id)) return no_original(*original);
    if (!original) {
      CUTPOINT_TRY(facts.sequence, opened_store.next_sequence());
    }
    facts.entry = log->newest + 1;
    // A snapshot that a prune has seen before its decision may be swept after it. So each attempt puts its own.
    session.set_uncommitted_snapshot(true);
    const auto objects = session.open_storage();
    CUTPOINT_TRY(auto id, put_snapshot(*objects, facts, opened_store.key()));
    CUTPOINT_RETURN_IF_FAILED(objects->sync());
    // Who removes a snapshot removes its object. After the commit a prune may do so too, since the version has taken its place.
    const result<std::uint64_t> is_there = original ? objects->size({object_kind::snapshot, original->id}) : 0;
    if (!is_there && is_absence(is_there.error())) {
      session.set_uncommitted_snapshot(!remove_object(*objects, {object_kind::snapshot, id}).ok());
      return no_original(*original);
    }
    log_entry entry;
    entry.snapshots = {id};
    if (original && original->is_replaced) entry.removed_snapshots = {original->id};
    CUTPOINT_TRY(const auto number, append_to_log(*session.open_storage(), opened_store.key(), *log, entry));
    session.set_uncommitted_snapshot(false);
    if (number) return open_store::listed_snapshot{std::move(id), std::move(facts)};
    static_cast<void>(remove_object(*objects, {object_kind::snapshot, id}));  // otherwise a prune sweeps it
  }
}

status append_change(leased_session& session, const log_entry& change,
                     const std::function<status(const store_log&)>& is_right) {
  open_store& opened_store = session.target();
  for (;;) {
    CUTPOINT_TRY(const auto log, opened_store.follow_log());
    if (is_right) CUTPOINT_RETURN_IF_FAILED(is_right(*log));
    CUTPOINT_TRY(const auto number, append_to_log(*session.open_storage(), opened_store.key(), *log, change));
    if (number) return {};
  }
}

}  // namespace cutpoint::store
