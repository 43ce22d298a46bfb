// The log of a store: one numbered sequence that orders commits, condemnations and removals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <cutpoint/storage.h>

#include "store/format/record.h"
#include "store/format/sealer.h"

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class log_entry_kind : std::uint8_t {
  change = 1,    ///< snapshots come or go, containers are condemned, keys go
  proposal = 2,  ///< of containers to remove: sessions that begin later do not refer to them
  decision = 3,  ///< to remove containers; it sums up all entries before, which do not count any more
};

struct log_entry {
  log_entry_kind kind = log_entry_kind::change;
  std::set<container_name> removed_containers;  ///< of a proposal or a decision
  /// Damaged containers. Whatever was whole in them is elsewhere; they hold nothing any more. A decision has all that are left.
  std::set<container_name> condemned_containers;
  std::set<std::string> snapshots;          ///< ids that are committed; in a decision those of all snapshots
  std::set<std::string> removed_snapshots;  ///< ids that do not count any more, because others replace them
  std::set<std::string> removed_keys;       ///< ids; a decision has all whose objects may be left
};

/// What the log of a store says at one moment.
struct store_log {
  std::uint64_t newest = 0;           ///< number of the last entry, or 0
  std::uint64_t decision = 0;         ///< number of the newest decision, or 0
  std::uint64_t proposal = 0;         ///< number of the newest proposal after that, or 0
  std::set<std::string> snapshots;    ///< ids; those whose objects do not exist were removed
  std::set<container_name> decided;   ///< to be removed by the newest decision; they may exist still
  std::set<container_name> proposed;  ///< by all proposals after that
  std::set<container_name> condemned;
  std::set<std::string> removed_keys;  ///< ids

  /// Returns the containers that hold nothing for a session which begins now.
  [[nodiscard]] std::set<container_name> unusable() const;
  /// Returns the containers of which no record counts, though some may exist.
  [[nodiscard]] std::set<container_name> lost() const;
};

/// Entries that were read before, by their numbers. An entry that counts never changes.
using known_entries = std::map<std::uint64_t, log_entry>;

/// Reads the log. Entries that are in `known` are not read again, and those that were read are added; null: all are read. Errors:
/// those of the storage; damage, also if an entry is missing.
[[nodiscard]] result<store_log> read_log(storage& objects, const seal_key& key, known_entries* known = nullptr);
/// The same, but passes entries that are damaged or missing to `damaged` and goes on without them. Nobody knows then what they
/// have committed, so that all snapshots of the storage count as committed. Errors: those of the storage.
[[nodiscard]] result<store_log> read_log(
    storage& objects, const seal_key& key,
    const std::function<void(const object_name& entry, const status& why)>& damaged, known_entries* known = nullptr);

/// Puts the entry after the newest that `known` has, durably, and returns its number; nullopt if another process has put an
/// entry since `known` was read: then the caller reads the log again and looks whether his entry is still right.
///
/// An entry counts only while no decision follows that does not know of it. A process that was suspended for so long that the
/// entries around its own are gone learns it here. `objects` must be a storage that nothing else is put by, because a storage
/// that has failed to put an object stays failed. Errors: those of the storage. Nobody knows then whether the entry counts.
[[nodiscard]] result<std::optional<std::uint64_t>> append_to_log(storage& objects, const seal_key& key,
                                                                 const store_log& known, const log_entry& entry);

/// Removes the entries before a decision. Does not sync. Errors: those of the storage.
[[nodiscard]] status remove_entries_before(storage& objects, std::uint64_t decision);

}  // namespace cutpoint::store
