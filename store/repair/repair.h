// Makes a damaged store consistent for what is left.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>

#include "store/access/open_store.h"

namespace cutpoint::store {

/// What a repair does, for messages. All functions may be empty.
struct repair_events {
  /// Receives a damaged object, and how many of its records were saved: "containers/00ff...".
  std::function<void(const std::string& object, const status& why, std::uint64_t saved_records)> damaged = {};
  /// Receives a file that is left out of a snapshot, or a folder that has lost entries.
  std::function<void(const std::string& snapshot, const std::string& path, const status& why)> lost = {};
  /// Receives the ids of a snapshot that lost files, and of the one that replaces it.
  std::function<void(const std::string& old_id, const std::string& new_id)> replaced = {};
};

struct repair_options {
  std::uint64_t threads = 0;  ///< that read containers; 0: one for each processor
  repair_events events = {};
  const cancellation* cancel = nullptr;
};

struct repair_summary {
  std::uint64_t damaged_objects = 0;
  std::uint64_t saved_records = 0;
  std::uint64_t lost_files = 0;
  std::uint64_t replaced_snapshots = 0;
};

/// Reads the whole store, and makes it consistent for what is left. The records that are whole in damaged containers are stored
/// again, and then these containers are condemned by the log: they hold nothing any more, and the next prune removes them. The
/// index gets shards for the containers that no whole shard names. Each snapshot that lost files is replaced by one without
/// them, which is marked incomplete and has the same sequence number; a snapshot that cannot be read does not count any more.
///
/// Nothing but damaged shards is removed, and everything new is durable before the log says so. So a repair may be interrupted
/// and repeated, and other sessions may run meanwhile. Nothing is condemned that cannot be read for another reason than damage.
///
/// Errors: those of the storage, except damage; unavailable, if a newer version wrote an object; cancelled.
[[nodiscard]] result<repair_summary> repair_store(open_store& opened_store, const repair_options& options);

}  // namespace cutpoint::store
