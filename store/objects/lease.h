// Leases: the objects by which a session says that it is alive.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/crypto/sealer.h"
#include "store/storage/storage.h"

namespace cutpoint::store {

struct lease {
  std::int64_t time = 0;      ///< when it was written: nanoseconds since 1970, UTC
  std::int64_t duration = 0;  ///< nanoseconds, at most 24 hours
  std::uint64_t epoch = 0;
  std::string owner;  ///< host, process and user, for messages

  /// Returns how long the lease will last, less than 0 if it has expired.
  [[nodiscard]] std::chrono::nanoseconds time_left() const;

  friend bool operator==(const lease&, const lease&) = default;
};

/// Returns the session of a lease or of a temporary file, which is the part of the id before `.` or `-`.
[[nodiscard]] std::string_view session_of(std::string_view id) noexcept;

/// Puts a lease. Does not sync. Errors: those of the storage.
[[nodiscard]] status put_lease(storage& objects, const std::string& id, const lease& facts, const seal_key& key);
/// Errors: those of the storage; damage.
[[nodiscard]] result<lease> read_lease(storage& objects, const std::string& id, const seal_key& key);

/// A lease that a thread renews until it is given up or destroyed. Renewals that fail are not reported: `is_held` finds
/// out.
class held_lease {
 public:
  /// Makes the first lease of a session durable. `epoch` is that of the newest removal list, read before. The arguments
  /// must outlive the lease. Errors: those of the storage.
  [[nodiscard]] static result<std::unique_ptr<held_lease>> take(storage& objects, const seal_key& key,
                                                                const std::string& session,
                                                                std::chrono::nanoseconds duration, std::uint64_t epoch);
  ~held_lease();
  held_lease(const held_lease&) = delete;
  held_lease& operator=(const held_lease&) = delete;

  /// Returns whether a lease of the session exists. If none does, another process has taken the session for dead. Errors:
  /// those of the storage.
  [[nodiscard]] result<bool> is_held();
  /// Makes another lease of a session durable that has lost its lease, and renews it. What the session refers to may have
  /// been removed meanwhile. Errors: those of the storage.
  [[nodiscard]] status take_again();
  /// Removes the lease, durably. Errors: those of the storage.
  [[nodiscard]] status give_up();

 private:
  held_lease(storage& objects, const seal_key& key, std::string session, std::chrono::nanoseconds duration,
             std::uint64_t epoch);

  [[nodiscard]] status put_next();
  [[nodiscard]] status renew();
  void start();
  void stop();

  storage& objects_;
  const seal_key& key_;
  std::string session_;
  std::chrono::nanoseconds duration_;
  std::uint64_t epoch_;
  std::mutex mutex_;               ///< for the numbers
  std::uint64_t next_number_ = 0;  ///< of the lease that is put next
  std::uint64_t held_number_ = 0;  ///< of the lease that says that the session is alive
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread renewer_;
};

/// A lease that has not expired, and its id.
struct live_lease {
  std::string id;
  lease facts;
};
/// Returns the lease of any session that is alive. Errors: those of the storage.
[[nodiscard]] result<std::optional<live_lease>> find_live_lease(storage& objects, const seal_key& key);

/// Returns the leases of sessions that began before the removal list of an epoch, whether they have expired or not.
/// Leases that cannot be read count too. Errors: those of the storage.
[[nodiscard]] result<std::vector<live_lease>> find_leases_before(storage& objects, const seal_key& key,
                                                                 std::uint64_t epoch);

/// Removes the temporary files of sessions whose leases have expired, and then these leases. Objects that other
/// processes remove meanwhile are no failure. Errors: those of the storage.
[[nodiscard]] status drop_expired_sessions(storage& objects, const seal_key& key);

}  // namespace cutpoint::store
