// The log of a store: one numbered sequence that orders commits, condemnations and removals.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <cutpoint/storage.h>

#include "store/format/object_header.h"
#include "store/format/record.h"
#include "store/format/sealer.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class log_entry_kind : std::uint8_t {
  change = 1,    ///< snapshots come or go, containers are condemned, keys go
  proposal = 2,  ///< of containers to remove: sessions that begin later do not refer to them
  decision = 3,  ///< to remove containers; it sums up all entries before, which do not count any more
};

/// What an entry says. One that only commits snapshots is an object of the log alone. Whatever takes something away is in an object of
/// kind removal, which the entry names: so the right to put such objects is the right to remove.
struct log_entry {
  log_entry_kind kind = log_entry_kind::change;
  std::set<container_name> removed_containers;  ///< of a proposal or a decision
  /// Damaged containers. Whatever was whole in them is elsewhere; they hold nothing any more. A decision has all that are left.
  std::set<container_name> condemned_containers;
  std::set<std::string> snapshots;          ///< ids that are committed; in a decision those of all snapshots
  std::set<std::string> removed_snapshots;  ///< ids that do not count any more, because others replace them
  std::set<std::string> removed_keys;       ///< ids; a decision has all whose objects may be left
  encoded_object_header header = {};        ///< of the object that it was read from: another one has another salt
  bool counts = true;  ///< false: what it names as its removal does not exist, or is another entry's
};

/// What the log of a store says at one moment.
struct store_log {
  std::uint64_t newest = 0;           ///< number of the last entry, or 0
  std::uint64_t decision = 0;         ///< number of the newest decision, or 0
  std::uint64_t proposal = 0;         ///< number of the newest proposal after that, or 0
  std::set<std::string> snapshots;    ///< ids; those whose objects do not exist were removed
  std::set<std::string> replaced;     ///< ids that entries after the decision take away; their objects may exist still
  std::set<container_name> decided;   ///< to be removed by the newest decision; they may exist still
  std::set<container_name> proposed;  ///< by all proposals after that
  std::set<container_name> condemned;
  std::set<std::string> removed_keys;  ///< ids
  /// Number of the oldest entry that counts: the newest decision, or 1; 0 in an empty log. It is removed before any entry after it.
  std::uint64_t oldest = 0;
  encoded_object_header oldest_header = {};
  /// No entry between this number and `decision` is the oldest for anybody; `decision` itself if nobody knows.
  std::uint64_t last_oldest = 0;

  /// Returns the containers that hold nothing for a session which begins now.
  [[nodiscard]] std::set<container_name> unusable() const;
  /// Returns the containers of which no record counts, though some may exist.
  [[nodiscard]] std::set<container_name> lost() const;
};

/// Reads the log once, and then only the entries that were put since. Not thread-safe.
class log_reader {
 public:
  /// Reads the log, which is valid until the next call. Errors: those of the storage; damage, also if an entry is missing.
  [[nodiscard]] result<const store_log*> read(storage& objects, const seal_key& key);
  /// The same, but passes entries that are damaged or missing to `damaged` and goes on without them. Nobody knows then what they
  /// have committed, so that all snapshots of the storage count as committed. Errors: those of the storage.
  [[nodiscard]] result<const store_log*> read(storage& objects, const seal_key& key,
                                              const damaged_object_function& damaged);

  /// Returns what was read last.
  [[nodiscard]] const store_log& log() const noexcept { return log_; }
  /// Returns the ids of the snapshots that entries after number `number` have committed, as far as the log was read; nullopt if some
  /// of these entries are summed up by a decision.
  [[nodiscard]] std::optional<std::vector<std::string>> committed_after(std::uint64_t number) const;

 private:
  [[nodiscard]] result<bool> follow(storage& objects, const seal_key& key);
  [[nodiscard]] status read_readable(storage& objects, const seal_key& key, const damaged_object_function& damaged);

  store_log log_;
  bool is_whole_ = false;                       ///< whether `log_` was read and lacks nothing
  std::map<std::uint64_t, log_entry> entries_;  ///< those that count, by their numbers: they never change
};

/// Reads the log as `log_reader::read` does.
[[nodiscard]] result<store_log> read_log(storage& objects, const seal_key& key);
[[nodiscard]] result<store_log> read_log(storage& objects, const seal_key& key, const damaged_object_function& damaged);

/// Puts the entry after the newest that `known` has, durably, and returns its number; nullopt if another process has put an
/// entry since `known` was read: then the caller reads the log again and looks whether his entry is still right. An entry that is
/// there already with the same bytes is the caller's: a storage may have put it twice.
///
/// An entry counts only while no decision follows that does not know of it. A process that was suspended for so long that the
/// entries around its own are gone learns it here. `objects` must be a storage that nothing else is put by, because a storage
/// that has failed to put an object stays failed. Errors: those of the storage. Nobody knows then whether the entry counts.
[[nodiscard]] result<std::optional<std::uint64_t>> append_to_log(storage& objects, const seal_key& key,
                                                                 const store_log& known, const log_entry& entry);

/// Removes the entries before a decision, the oldest first, and then what they have removed things by. Those up to `last_oldest`
/// (`store_log::last_oldest`), each of which may be the oldest that somebody knows, are removed durably one by one; for the rest the
/// caller syncs. Errors: those of the storage.
[[nodiscard]] status remove_entries_before(storage& objects, std::uint64_t decision,
                                           std::uint64_t last_oldest = UINT64_MAX);

}  // namespace cutpoint::store
