// Backups of files in a store on the model of a disk, as `backup_store` makes them: with a session, a lease and a commit.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "store/session/leased_session.h"
#include "store/upkeep/upkeep.h"
#include "tests/store/support/made_store.h"
#include "tests/store/support/small_store.h"

namespace cutpoint::tests {

/// Faults that a test plants in sessions.
struct session_faults {
  bool ignores_proposals = false;  ///< records are looked up in containers that a prune has proposed
  bool audits_nothing = false;     ///< the snapshot is committed though containers were removed meanwhile
  bool commits_early = false;      ///< the snapshot is committed before the containers and shards are durable
  bool drops_container = false;    ///< a container that a snapshot refers to is removed after the commit
};

/// Stores files and commits them. Returns the id of the snapshot.
inline result<std::string> back_up(store::open_store& opened_store, const file_map& files,
                                   session_faults planted = {}) {
  auto session = store::leased_session::begin(opened_store);
  if (!session) return session.error();
  auto shards = (*session)->open_shards();
  if (planted.ignores_proposals) {
    if (status mapped = opened_store.reopen_shards(); !mapped.ok()) return mapped;
    shards = store::shard_index::open(opened_store.objects(), opened_store.key().kind(), opened_store.tables());
  }
  if (!shards) return shards.error();
  auto records = (*session)->open_records();
  if (!records) return records.error();
  auto digests = *store::record_fingerprinter::make(opened_store.fingerprint());
  store::deduplicator writer(opened_store.config(), *shards, *records,
                             *store::record_fingerprinter::make(opened_store.fingerprint()));
  const auto root = store_files(writer, digests, files);
  if (!root) return root.error();
  if (!planted.commits_early) CUTPOINT_RETURN_IF_FAILED(writer.finish());
  store::snapshot facts;
  facts.root = *root;
  facts.paths = {"/"};
  if (planted.audits_nothing) {
    auto id = store::put_snapshot((*session)->objects(), facts, opened_store.key());
    if (!id) return id.error();
    status done = (*session)->objects().sync();
    store::log_entry entry;
    entry.snapshots = {*id};
    if (done.ok()) done = store::append_change(**session, entry);
    return done.ok() ? std::move(id) : done;
  }
  auto committed = store::commit_snapshot(**session, std::move(facts));
  if (!committed) return committed.error();
  if (planted.commits_early) CUTPOINT_RETURN_IF_FAILED(writer.finish());
  if (planted.drops_container) {
    const auto containers = (*session)->objects().list(store::object_kind::container);
    CUTPOINT_RETURN_IF_FAILED((*session)->objects().remove({store::object_kind::container, containers->front()}));
  }
  return std::move(committed->id);
}

/// Reads the files of a snapshot by an index that is mapped anew.
inline result<file_map> read_back(store::open_store& opened_store, const std::string& id) {
  const auto facts = opened_store.read(id);
  if (!facts) return facts.error();
  store::table_cache tables(opened_store.objects(), opened_store.key(), MiB);
  auto shards = store::shard_index::open(opened_store.objects(), opened_store.key().kind(), tables);
  if (!shards) return shards.error();
  store::record_reader records(opened_store.objects(), opened_store.key(), *shards,
                               *store::record_fingerprinter::make(opened_store.fingerprint()));
  return read_files(records, facts->root);
}

inline status forget(store::open_store& opened_store, const std::string& id) {
  if (status removed = opened_store.objects().remove({store::object_kind::snapshot, id}); !removed.ok()) return removed;
  return opened_store.objects().sync();
}

/// Ends all sessions, as others do that take them for dead.
inline void end_all_sessions(const made_store& disk_store) {
  auto meanwhile = std::exchange(disk_store.files->meanwhile, nullptr);  // that they are ended is one step
  std::set<std::string> sessions;
  for (const std::string& each : names(disk_store, store::object_kind::lease)) {
    sessions.emplace(store::session_of(each));
  }
  if (const auto opened_store = disk_store.try_open(disk_store.secret_key)) {
    static_cast<void>(store::end_sessions(**opened_store, sessions));
  }
  disk_store.files->meanwhile = std::move(meanwhile);
}

/// Contents of files by the snapshots that have them.
using snapshot_map = std::map<std::string, file_map>;

/// Returns a sentence on the first snapshot that does not come back as it was, or an empty string.
inline std::string loss_in(store::open_store& opened_store, const snapshot_map& expected) {
  for (const auto& [id, files] : expected) {
    const auto read = read_back(opened_store, id);
    if (!read) return read.error().message();
    if (*read != files) return "the snapshot " + id + " has other files";
  }
  return "";
}

}  // namespace cutpoint::tests
