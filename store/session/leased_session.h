// A session that writes to a store: its lease, the records that it may rely on, its commit, and sessions that have ended.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/objects/lease.h"
#include "store/objects/log.h"
#include "store/session/deduplicator.h"
#include "store/session/open_store.h"

namespace cutpoint::store {

/// Begins before anything is looked up. A prune that proposes a container later waits for the lease, and containers that
/// were proposed before or are condemned count as absent. Not thread-safe, except what its members say.
class leased_session {
 public:
  /// Ends sessions whose leases have expired, so that what an interrupted backup has stored is used, takes a lease, and reads the
  /// log. If the index was removed, it is made again. `opened_store` must outlive the session. Errors: those of the storage; damage
  /// of the log.
  [[nodiscard]] static result<std::unique_ptr<leased_session>> begin(open_store& opened_store);
  /// Puts shards for what was stored and no shard names, or removes that if there is no room for them, and gives the lease up. A
  /// failure is not reported, because the lease expires, and whoever ends the session then does the same.
  ~leased_session();
  leased_session(const leased_session&) = delete;
  leased_session& operator=(const leased_session&) = delete;

  [[nodiscard]] const session_id& id() const noexcept { return containers_.session; }
  /// Returns the digits of the same.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Returns the store that the session writes to.
  [[nodiscard]] open_store& target() noexcept { return opened_store_; }
  [[nodiscard]] held_lease& lease() noexcept { return *lease_; }
  /// Returns the log that the session began with.
  [[nodiscard]] const store_log& log() const noexcept { return log_; }
  /// Opens another storage, whose temporary files belong to the session.
  [[nodiscard]] std::unique_ptr<storage> open_storage() { return opened_store_.open_storage_of(name_); }
  /// The storage for what the session writes.
  [[nodiscard]] storage& objects() noexcept { return *objects_; }
  /// Opens the shards. The index has only what the session may refer to. Errors: those of the storage.
  [[nodiscard]] result<shard_index> open_shards();

  /// Opens what the session, which must outlive it, writes containers with. Errors: those of the back ends.
  [[nodiscard]] result<record_writer> open_records();
  /// Opens what the session, which must outlive it, writes new records with. Errors: those of the storage and the back ends.
  [[nodiscard]] result<std::unique_ptr<store_writer>> open_writer();

  /// Says whether there is a snapshot of the session of which nobody knows yet whether it is committed. Then the number of its entry is
  /// used before the lease is given up, so that `find_lost_commits` does not take it for one whose entry was lost.
  void set_uncommitted_snapshot(bool there_is_one) noexcept { has_uncommitted_snapshot_ = there_is_one; }

 private:
  [[nodiscard]] status make_lost_index();
  [[nodiscard]] status leave_nothing_unnamed();
  explicit leased_session(open_store& opened_store) noexcept : opened_store_(opened_store) {}

  open_store& opened_store_;
  std::string name_;
  own_containers containers_;
  store_log log_;
  std::unique_ptr<storage> objects_;
  std::unique_ptr<table_cache> tables_;
  std::unique_ptr<held_lease> lease_;
  bool has_uncommitted_snapshot_ = false;
};

/// Returns the containers whose ids begin with `prefix` and that no shard names. Errors: those of the storage.
[[nodiscard]] result<std::vector<std::string>> unnamed_containers(open_store& opened_store, storage& objects,
                                                                  const std::string& prefix);

/// Makes the containers durable whose ids begin with `prefix` and that no shard names, whoever has put them, and puts shards for
/// them by `objects`, durably. Errors: those of the storage; as for `put_shards_of`.
[[nodiscard]] status index_containers(open_store& opened_store, storage& objects, const std::string& prefix);

/// Returns the whole snapshots that no entry of the log names, although their entries were to be newer than all that are there: the
/// newest entries are lost. The snapshot of a session that has not committed it yet is not one, because its entry would be the next,
/// and the session has a lease. `known` is the log, read before. Errors: those of the storage, except damage.
[[nodiscard]] result<std::vector<open_store::listed_snapshot>> find_lost_commits(const store_reading& store,
                                                                                 const store_log& known);

/// Ends sessions: puts shards for what they have stored, so that the next backup uses it and a prune finds it, uses the numbers of
/// the entries that were to commit their snapshots, and then removes their temporary files and leases, durably, as `remove_sessions`
/// does. A container that no shard names is always one of a session that has a lease. Errors: those of the storage; as for
/// `put_shards_of`; damage of the log.
[[nodiscard]] status end_sessions(open_store& opened_store, const std::set<std::string>& sessions);

/// Does that for the sessions whose leases have expired. Without room for shards they keep their leases, which nobody waits for.
/// Errors: as for `end_sessions`.
[[nodiscard]] status end_expired_sessions(open_store& opened_store);

/// What a new snapshot is another version of.
struct original_snapshot {
  std::string id;
  bool is_replaced = true;  ///< whether the version takes its place, in the same entry of the log
};

/// Puts a snapshot with the next sequence number, and commits it by an entry of the log, durably. The records that it refers
/// to must be durable. Nobody sees it before it is committed, and the commit and a decision to remove what it refers to cannot
/// both succeed: whichever is second in the log finds the other.
///
/// If containers were removed or condemned since the session began, all records of the snapshot are looked up before. If one
/// is missing, nothing is committed; that is an error which names a file and its record.
///
/// A version of another snapshot keeps its sequence number, and names the snapshot of the backup as its original. If the other
/// one does not count any more, or its object was removed before the entry is put, nothing is committed; that is a failure
/// which `is_absence` recognizes. Errors: those of the storage; after a failure to bring the entry to the disk nobody knows
/// whether the snapshot is committed.
[[nodiscard]] result<open_store::listed_snapshot> commit_snapshot(
    leased_session& session, snapshot facts, const std::optional<original_snapshot>& original = {});

/// Appends a change of the log that commits no snapshot. `is_right` is asked for each state of the log that the entry would
/// follow; if it returns a failure, nothing is appended. Errors: those of the storage; that failure.
[[nodiscard]] status append_change(leased_session& session, const log_entry& change,
                                   const std::function<status(const store_log&)>& is_right = {});

}  // namespace cutpoint::store
