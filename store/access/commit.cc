#include "store/access/commit.h"

#include <utility>

#include "store/check/tree_audit.h"
#include "store/format/failure.h"
#include "store/objects/removal_list.h"

namespace cutpoint::store {

namespace {

/// Looks up all records of a tree in containers that exist and are on no removal list. The tables are read anew, because
/// those in memory may be of containers that were removed.
status find_all_records(open_store& opened_store, const record_reference& root) {
  auto list = read_newest_list(opened_store.objects(), opened_store.key());
  if (!list) return list.error();
  table_cache tables(opened_store.objects(), opened_store.key(), table_cache::usual_bytes, std::move(list->containers));
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
          "the lease of the backup was not renewed in time, and data that it refers to was removed meanwhile; nothing "
          "was committed: back up again: " +
              problem.message()};
}

/// Takes a lease again that was lost. It is durable before the records are looked up. So a process that removes containers
/// either did that before, which is found, or waits for the lease and then sees the snapshot.
status keep_lease(open_store& opened_store, held_lease& lease, const record_reference& root) {
  const auto is_held = lease.is_held();
  if (!is_held) return is_held.error();
  if (*is_held) return {};
  if (status again = lease.take_again(); !again.ok()) return again;
  return find_all_records(opened_store, root);
}

}  // namespace

result<open_store::listed_snapshot> commit_snapshot(open_store& opened_store, storage& objects, held_lease& lease,
                                                    snapshot facts) {
  if (status outcome = keep_lease(opened_store, lease, facts.root); !outcome.ok()) return outcome;
  const auto all = opened_store.snapshots({});
  if (!all) return all.error();
  facts.sequence = all->empty() ? 1 : all->back().facts.sequence + 1;
  auto id = put_snapshot(objects, facts, opened_store.key());
  if (!id) return id.error();
  if (status synced = objects.sync(); !synced.ok()) return synced;
  // The lease that was there before may have been lost before the snapshot was durable.
  if (status outcome = keep_lease(opened_store, lease, facts.root); !outcome.ok()) {
    if (status removed = objects.remove({object_kind::snapshot, *id}); !removed.ok()) return removed;
    const status synced = objects.sync();
    return synced.ok() ? outcome : synced;
  }
  if (status outcome = lease.give_up(); !outcome.ok()) return outcome;
  return open_store::listed_snapshot{std::move(*id), std::move(facts)};
}

}  // namespace cutpoint::store
