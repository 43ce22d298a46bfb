// Makes a damaged store consistent for what is left.
#pragma once

#include <functional>
#include <string>

#include <cutpoint/source.h>

#include "store/files/store_reading.h"
#include "store/objects/config.h"

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

/// Reads the whole store. The records that are whole in damaged containers are stored again, the index is made again from
/// all whole containers, and each snapshot that lost files is replaced by one without them, which is marked incomplete and
/// has the same sequence number. Damaged containers, shards and snapshots are removed at last.
///
/// Everything new is durable before anything is removed, so that a repair may be interrupted and repeated. No other
/// session may write meanwhile. Open shards do not see the new ones: open the store again. Nothing is removed if an object
/// cannot be read for another reason than damage.
///
/// Errors: those of the storage, except damage; unavailable, if a newer version wrote an object; cancelled.
[[nodiscard]] result<repair_summary> repair_store(const store_reading& store, const store_config& config,
                                                  const repair_options& options);

}  // namespace cutpoint::store
