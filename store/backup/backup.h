// Backs up trees of files into a session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/store.h>

#include "store/session/deduplicator.h"
#include "store/session/store_reading.h"

namespace cutpoint::store {

/// The snapshot that has the same host and paths. Files that have not changed since are not read.
struct parent_snapshot {
  record_reference root;
  bool is_incomplete = false;
  std::uint64_t files = 0;  ///< for the progress, as `store_backup_progress::parent_files`
  std::uint64_t bytes = 0;
};

struct backup_summary {
  record_reference root;
  std::vector<std::string> paths;     ///< absolute, sorted, without those below another one
  std::uint64_t files = 0;            ///< of all kinds except folders
  std::uint64_t folders = 0;          ///< with those above the named paths
  std::uint64_t unchanged_files = 0;  ///< that were not read
  std::uint64_t bytes = 0;            ///< of the contents, with holes
  store_backup_progress totals;       ///< the snapshot is incomplete if there are problems
  store_work work;                    ///< of the engine and of reading
  bool is_unchanged = false;          ///< whether the parent snapshot has the same at the named paths and below
};

/// Stores all files, and writes the nodes of their folders. The records are durable when the session has finished.
/// `store` reads the store; no other thread may use its shards. `feed` says how contents are cut and fingerprinted, as the store
/// requires; a part of its memory is used for reading ahead. Of `options` the fields count that say what is read and how fast,
/// and the functions `problem`, `warning` and `progress`; the rest is the caller's.
///
/// A file is opened in the folder that the walk found it in, and is the one that was described: if the name has been given
/// to another file meanwhile, that file is described and stored. A file that cannot be read is reported to `problem` and
/// left out. A file that changes while it is read is reported, and stored as it was read. Memory: that of the feed, open
/// nodes of each folder on the way to the present file, and about 500 bytes for each of at most 65,536 entries that wait.
///
/// Errors: those of the session, the engine and the storage; io_error, if nothing could be read: something
/// failed, no file is in the tree, and no named path is a folder of which everything was read; cancelled.
[[nodiscard]] result<backup_summary> backup_files(engine& threads, deduplicator& records, const store_reading& store,
                                                  const store_backup_options& options, const feed_options& feed,
                                                  const std::optional<parent_snapshot>& parent = std::nullopt);

}  // namespace cutpoint::store
