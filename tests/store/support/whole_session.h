// Backups of files in a store on the model of a disk, as `backup_store` makes them: with a session, a lease and a commit.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "store/access/commit.h"
#include "store/access/held_session.h"
#include "store/prune/prune.h"
#include "tests/store/support/made_store.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {

/// Faults that a test plants in sessions.
struct session_faults {
  bool ignores_removal_lists = false;  ///< records are looked up in containers that a prune has proposed
  bool takes_no_lease = false;
};

/// Stores files and commits them. Returns the id of the snapshot.
inline result<std::string> back_up(store::open_store& opened, const file_map& files, session_faults planted = {}) {
  auto session = store::held_session::begin(opened);
  if (!session) return session.error();
  if (planted.takes_no_lease) {
    if (status given = (*session)->lease().give_up(); !given.ok()) return given;
  }
  auto shards = (*session)->open_shards();
  if (planted.ignores_removal_lists) {
    if (status mapped = opened.reopen_shards(); !mapped.ok()) return mapped;
    shards = store::shard_index::open(opened.objects(), opened.key().kind(), opened.tables());
  }
  if (!shards) return shards.error();
  store::record_writer records((*session)->objects(), opened.key(), opened.config().container_bytes,
                               blake3_fingerprinter());
  auto digests = *store::record_fingerprinter::make(opened.fingerprint());
  store::write_session writer(opened.config(), *shards, records,
                              *store::record_fingerprinter::make(opened.fingerprint()));
  const auto root = store_files(writer, digests, files);
  if (!root) return root.error();
  if (status finished = writer.finish(); !finished.ok()) return finished;
  store::snapshot taken;
  taken.root = *root;
  if (planted.takes_no_lease) {
    auto id = store::put_snapshot((*session)->objects(), taken, opened.key());
    const status synced = (*session)->objects().sync();
    return synced.ok() ? std::move(id) : synced;
  }
  auto committed = store::commit_snapshot(opened, (*session)->objects(), (*session)->lease(), std::move(taken));
  if (!committed) return committed.error();
  return std::move(committed->id);
}

/// Reads the files of a snapshot by an index that is mapped anew.
inline result<file_map> read_back(store::open_store& opened, const std::string& id) {
  const auto taken = opened.read(id);
  if (!taken) return taken.error();
  store::table_cache tables(opened.objects(), opened.key(), MiB);
  auto shards = store::shard_index::open(opened.objects(), opened.key().kind(), tables);
  if (!shards) return shards.error();
  store::record_reader records(opened.objects(), opened.key(), *shards,
                               *store::record_fingerprinter::make(opened.fingerprint()));
  return read_files(records, taken->root);
}

inline status forget(store::open_store& opened, const std::string& id) {
  if (status removed = opened.objects().remove({store::object_kind::snapshot, id}); !removed.ok()) return removed;
  return opened.objects().sync();
}

/// Contents of files by the snapshots that have them.
using snapshot_map = std::map<std::string, file_map>;

/// Returns a sentence on the first snapshot that does not come back as it was, or an empty string.
inline std::string loss_in(store::open_store& opened, const snapshot_map& expected) {
  for (const auto& [id, files] : expected) {
    const auto read = read_back(opened, id);
    if (!read) return read.error().message();
    if (*read != files) return "the snapshot " + id + " has other files";
  }
  return "";
}

}  // namespace cutpoint::tests
