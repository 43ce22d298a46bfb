// A session that writes to a store: its lease, and the records that it may rely on.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "store/access/open_store.h"
#include "store/objects/lease.h"
#include "store/objects/log.h"
#include "store/session/store_writer.h"

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
};

}  // namespace cutpoint::store
