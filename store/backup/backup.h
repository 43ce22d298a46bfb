// Backs up trees of files into a write session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/file_reader.h>
#include <cutpoint/store.h>
#include <cutpoint/walk.h>

#include "store/files/store_reading.h"
#include "store/session/write_session.h"

namespace cutpoint::store {

struct backup_options {
  /// Files and folders, which are stored whatever `walking` leaves out. A symbolic link is stored as a link, or with a slash
  /// at its end as the folder that it leads to. A block device is stored as a file with its content. "-" is standard input.
  std::vector<std::string> paths;
  /// The name under which standard input is stored in the root folder.
  std::string standard_input_name = "stdin";
  /// What to leave out. Links are never followed. Patterns match paths relative to the path that was given.
  walk_options walking = {};
  /// How contents are cut and fingerprinted, as the store requires. A part of its memory is used for reading ahead.
  feed_options feed;
  file_access access = file_access::automatic;
  std::uint64_t most_bytes_per_second = 0;  ///< as `store_backup_options::most_bytes_per_second`
  /// The root of the snapshot that has the same host and paths. Files that have not changed since are not read.
  std::optional<record_reference> parent = std::nullopt;
  bool is_parent_incomplete = false;
  problem_function problem = {};
  problem_function warning = {};  ///< as `store_backup_options::warning`
  std::function<void(const store_backup_progress&)> progress = {};
  store_backup_progress start = {};  ///< what is known of the parent
  const cancellation* cancel = nullptr;
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
/// `parent` reads the store; no other thread may use its shards.
///
/// A file is opened in the folder that the walk found it in, and is the one that was described: if the name has been given
/// to another file meanwhile, that file is described and stored. A file that cannot be read is reported to `problem` and
/// left out. A file that changes while it is read is reported, and stored as it was read. Memory: that of the feed, open
/// nodes of each folder on the way to the present file, and about 500 bytes for each of at most 65,536 entries that wait.
///
/// Errors: those of the session, the engine and the storage; io_error, if nothing could be read: something
/// failed, no file is in the tree, and no named path is a folder of which everything was read; cancelled.
[[nodiscard]] result<backup_summary> backup_files(engine& threads, write_session& session, const store_reading& parent,
                                                  const backup_options& options);

}  // namespace cutpoint::store
