#include "store/access/commit.h"

#include <algorithm>
#include <utility>

#include "store/check/tree_audit.h"
#include "store/format/clock.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

/// Looks up all records of a tree in containers that exist and count. The tables are read anew, because those in memory may
/// be of containers that were removed.
status find_all_records(open_store& opened_store, const record_reference& root, std::set<container_name> lost) {
  table_cache tables(opened_store.objects(), opened_store.key(), table_cache::usual_bytes, std::move(lost));
  auto shards = shard_index::open(opened_store.objects(), opened_store.key().kind(), tables);
  if (!shards) return shards.error();
  const lost_records none;
  cancellation first_problem;
  auto trees =
      tree_audit::make({opened_store.objects(), opened_store.key(), *shards, opened_store.reading().make_fingerprinter},
                       none, &first_problem);
  if (!trees) return trees.error();
  status problem;
  const auto is_whole = trees->audit(root, [&](const std::string& path, const status& why) {
    if (problem.ok()) problem = {why.code(), path + ": " + why.message(), why.system_error()};
    first_problem.request();
  });
  if (problem.ok()) return is_whole ? status() : is_whole.error();
  if (!is_damage(problem)) return problem;
  return {status_code::io_error,
          "data that the backup refers to was removed or found to be damaged meanwhile; nothing was committed: back up "
          "again: " +
              problem.message()};
}

/// Whether everything that was there when a session began is there still.
bool has_lost_nothing(const store_log& begin, const store_log& now) {
  return now.decision == begin.decision && now.condemned == begin.condemned;
}

}  // namespace

result<open_store::listed_snapshot> commit_snapshot(leased_session& session, snapshot facts,
                                                    const std::optional<original_snapshot>& original) {
  open_store& opened_store = session.target();
  store_log verified = session.log();
  if (original) {
    if (facts.original.empty()) facts.original = original->id;
    facts.edited = nanoseconds_now();
  }
  for (;;) {
    auto log = opened_store.read_log();
    if (!log) return log.error();
    if (!has_lost_nothing(verified, *log)) {
      const status complete = find_all_records(opened_store, facts.root, log->lost());
      if (!complete.ok()) return complete;
      verified = *log;
    }
    if (original && !log->snapshots.contains(original->id)) {
      return status(status_code::unavailable, "the snapshot " + original->id + " was removed or replaced meanwhile",
                    ENOENT);
    }
    if (!original) {
      const auto all = opened_store.snapshots(*log, {});
      if (!all) return all.error();
      facts.sequence = all->empty() ? 1 : all->back().facts.sequence + 1;
    }
    // A snapshot that a prune has seen before its decision may be swept after it. So each attempt puts its own.
    const auto objects = session.open_storage();
    auto id = put_snapshot(*objects, facts, opened_store.key());
    if (!id) return id.error();
    if (status synced = objects->sync(); !synced.ok()) return synced;
    log_entry entry;
    entry.snapshots = {*id};
    if (original && original->is_replaced) entry.removed_snapshots = {original->id};
    const auto number = append_to_log(*session.open_storage(), opened_store.key(), *log, entry);
    if (!number) return number.error();
    if (*number) return open_store::listed_snapshot{std::move(*id), std::move(facts)};
    static_cast<void>(objects->remove({object_kind::snapshot, *id}));  // otherwise a prune sweeps it
  }
}

status append_change(leased_session& session, const log_entry& change,
                     const std::function<status(const store_log&)>& is_right) {
  open_store& opened_store = session.target();
  for (;;) {
    const auto log = opened_store.read_log();
    if (!log) return log.error();
    if (is_right) {
      if (status right = is_right(*log); !right.ok()) return right;
    }
    const auto number = append_to_log(*session.open_storage(), opened_store.key(), *log, change);
    if (!number) return number.error();
    if (*number) return {};
  }
}

}  // namespace cutpoint::store
