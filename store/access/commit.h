// Commits a snapshot.
#pragma once

#include <optional>
#include <string>

#include "store/access/leased_session.h"

namespace cutpoint::store {

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
/// one does not count any more, nothing is committed; that is a failure which `is_absence` recognizes. Errors: those of the
/// storage; after a failure to bring the entry to the disk nobody knows whether the snapshot is committed.
[[nodiscard]] result<open_store::listed_snapshot> commit_snapshot(
    leased_session& session, snapshot facts, const std::optional<original_snapshot>& original = {});

/// Appends a change of the log that commits no snapshot. `is_right` is asked for each state of the log that the entry would
/// follow; if it returns a failure, nothing is appended. Errors: those of the storage; that failure.
[[nodiscard]] status append_change(leased_session& session, const log_entry& change,
                                   const std::function<status(const store_log&)>& is_right = {});

}  // namespace cutpoint::store
