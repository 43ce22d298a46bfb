// Leases, the objects by which a session says that it is alive, and the reserve of bytes with which a full store is pruned.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/storage.h>

#include "store/format/sealer.h"

namespace cutpoint::store {

/// A process, so that others on the same machine can tell whether it runs. Zeros where the system does not say.
struct process_identity {
  std::array<std::uint8_t, 16> boot = {};  ///< a random id that the kernel draws when it starts
  std::uint64_t pid_namespace = 0;         ///< inode of the namespace that `process` belongs to
  std::uint64_t process = 0;
  std::uint64_t start_time = 0;  ///< in ticks since the boot

  [[nodiscard]] static process_identity own();
  /// Returns whether the process has certainly ended: it belonged to this boot and this namespace, and is gone or another
  /// process has its number. Whatever cannot be compared counts as running.
  [[nodiscard]] bool has_ended() const;

  friend bool operator==(const process_identity&, const process_identity&) = default;
};

struct lease {
  std::int64_t time = 0;      ///< when it was written, by the clock of the storage: nanoseconds since 1970, UTC
  std::int64_t duration = 0;  ///< nanoseconds, at most 24 hours; 0 in the last lease of a session
  std::uint64_t epoch = 0;    ///< number of the newest entry of the log when the session began
  process_identity process;
  std::string owner;  ///< host, process and user, for messages

  /// Returns how long the lease will last, less than 0 if it has expired or its process has ended. A lease from the future
  /// lasts as long as the longest that is legal. `now` is the time by the clock of the storage.
  [[nodiscard]] std::chrono::nanoseconds time_left(std::int64_t now) const;
  /// Returns whether it is the last lease of a session that has ended, whatever its other leases say: they could not be removed.
  [[nodiscard]] bool is_end() const noexcept { return duration == 0; }

  friend bool operator==(const lease&, const lease&) = default;
};

/// Puts a lease. Does not sync. Errors: those of the storage.
[[nodiscard]] status put_lease(storage& objects, const std::string& id, const lease& facts, const seal_key& key);
/// Errors: those of the storage; damage.
[[nodiscard]] result<lease> read_lease(storage& objects, const std::string& id, const seal_key& key);

/// A lease that a thread renews until it is given up or destroyed. A renewal that fails is tried again. That a lease is lost
/// costs no safety, because the log decides whether a commit counts: a lease makes a prune wait for its session.
class held_lease {
 public:
  /// Opens a storage to put one lease by. A storage that has failed stays failed, and a failed renewal must not end a session.
  using storage_function = std::function<std::unique_ptr<storage>()>;

  /// Makes the first lease of a session durable. `epoch` is the number of the newest entry of the log, read before. The key
  /// must outlive the lease. Errors: those of the storage.
  [[nodiscard]] static result<std::unique_ptr<held_lease>> take(storage_function open, const seal_key& key,
                                                                const std::string& session,
                                                                std::chrono::nanoseconds duration, std::uint64_t epoch);
  ~held_lease();
  held_lease(const held_lease&) = delete;
  held_lease& operator=(const held_lease&) = delete;

  /// Removes the lease, durably, or puts a last one that says so where the storage does not let this user remove leases. Errors:
  /// those of the storage; the lease then expires.
  [[nodiscard]] status give_up();
  /// Returns whether more time than its duration has passed, ever, without a renewal, so that others may have ended the session.
  [[nodiscard]] bool may_have_expired();

 private:
  held_lease(storage_function open, const seal_key& key, std::string session, std::chrono::nanoseconds duration,
             std::uint64_t epoch);

  [[nodiscard]] bool is_overdue() const;
  [[nodiscard]] status put_next(std::chrono::nanoseconds duration);
  [[nodiscard]] status renew();
  [[nodiscard]] status remove_leases(std::uint64_t end);
  void start();
  void stop();

  storage_function open_;
  const seal_key& key_;
  std::string session_;
  std::chrono::nanoseconds duration_;
  std::uint64_t epoch_;
  std::mutex mutex_;                      ///< for what follows
  std::chrono::nanoseconds put_at_ = {};  ///< when the newest lease was put, since the machine was started
  bool was_overdue_ = false;
  std::uint64_t next_number_ = 0;    ///< of the lease that is put next
  std::uint64_t newest_number_ = 0;  ///< of the lease that says that the session is alive
  std::uint64_t oldest_number_ = 0;  ///< of the lease that may be there still
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread renewer_;
};

struct listed_lease {
  std::string id;
  lease facts;
};
/// Returns the newest lease of each session that has not said that it ended, whether it has expired or not. Leases that cannot be read
/// have expired. Errors: those of the storage.
[[nodiscard]] result<std::vector<listed_lease>> list_leases(storage& objects, const seal_key& key);

/// Returns the sessions to end: those whose leases have expired. Those that have said that they ended are among them where this user
/// may remove their leases. Errors: those of the storage.
[[nodiscard]] result<std::set<std::string>> expired_sessions(storage& objects, const seal_key& key);

/// Removes the temporary files of sessions, durably, and then their leases. What the storage does not let this user remove stays;
/// for a session whose leases stay, a last one is put that says that it has ended. Errors: those of the storage.
[[nodiscard]] status remove_sessions(storage& objects, const seal_key& key, const std::set<std::string>& sessions);

/// Removes temporary files of no session that has a lease: those of a process that was killed before it took one, or after it
/// gave it up. A process that still writes one writes it again, or does without. Errors: those of the storage.
[[nodiscard]] status remove_abandoned_files(storage& objects, const std::vector<std::string>& files);

/// Returns whether a temporary object is a reserve, which belongs to no session.
[[nodiscard]] bool is_reserve(std::string_view temporary_id) noexcept;

/// Puts the reserve, unless the store has one, the storage has no room for it, or nobody knows how much room there is, or this user
/// could not remove it. Nothing else is done with `objects` after that, because lack of room is a failure of it all the same.
[[nodiscard]] status put_reserve(storage& objects);

/// Removes the reserve. Returns whether there was one that this user may remove.
///
/// A prune puts its lease, a proposal and a decision before it removes anything, so that it could not begin on a full disk.
/// Nothing refers to the reserve, so it may be removed at any time. If another process takes the room, the prune fails as it
/// would without a reserve, and has lost nothing.
[[nodiscard]] result<bool> remove_reserve(storage& objects);

}  // namespace cutpoint::store
