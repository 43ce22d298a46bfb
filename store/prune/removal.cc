#include "store/prune/removal.h"

#include <algorithm>
#include <utility>

#include "store/format/failure.h"
#include "store/index/shard_rebuild.h"

namespace cutpoint::store {

namespace {

status overtaken() {
  return {status_code::unavailable, "another prune has begun meanwhile; nothing more was removed: try again"};
}

/// Puts a list, durably, and then makes sure that it is the newest. So the lists of all processes are in one order, and a
/// process that was suspended for long does not go on with what it knew before.
status put_next_list(open_store& opened_store, const removal_list& list) {
  // A storage that has failed to put an object stays failed.
  const auto objects = opened_store.open_storage(new_session_id(), 0);
  status put = put_removal_list(*objects, opened_store.key(), list);
  if (put.ok()) put = objects->sync();
  if (is_presence(put)) return overtaken();
  if (!put.ok()) return put;
  const auto newest = newest_epoch(*objects);
  if (!newest) return newest.error();
  return *newest == list.epoch ? status() : overtaken();
}

}  // namespace

result<store_state> read_state(open_store& opened_store) {
  status unreadable;
  auto snapshots = opened_store.snapshots([&](const std::string& object, const status& why) {
    if (!unreadable.ok()) return;
    unreadable = {why.code(), why.message() + "; nothing is removed while it is unknown what " + object + " needs",
                  why.system_error()};
  });
  if (!snapshots) return snapshots.error();
  if (!unreadable.ok()) return unreadable;
  if (status mapped = opened_store.reopen_shards(); !mapped.ok()) return mapped;
  const auto ids = opened_store.objects().list(object_kind::container);
  if (!ids) return ids.error();
  store_state state{std::move(*snapshots), {}};
  for (const std::string& id : *ids) {
    if (const auto name = container_name_of(id)) state.containers.insert(*name);
  }
  return state;
}

result<live_records> mark_snapshots(open_store& opened_store, const std::vector<open_store::listed_snapshot>& snapshots,
                                    const marking_options& options) {
  table_cache tables(opened_store.objects(), opened_store.key(), table_cache::usual_bytes);
  auto shards = shard_index::open(opened_store.objects(), opened_store.key().kind(), tables);
  if (!shards) return shards.error();
  // The marks are of the places that shards name, and no table of a container confirms them.
  if (status rebuilt = shards->rebuild_damaged(); !rebuilt.ok()) return rebuilt;
  std::vector<record_reference> roots;
  for (const auto& each : snapshots) roots.push_back(each.facts.root);
  return live_records::mark(opened_store.reading(*shards), roots, options);
}

status propose_removal(open_store& opened_store, const removal_list& proposal) {
  return put_next_list(opened_store, proposal);
}

result<removal_outcome> complete_removal(open_store& opened_store, const removal_list& proposal,
                                         const std::set<std::string>& marked, const marking_options& options) {
  removal_outcome outcome;
  storage& objects = opened_store.objects();
  if (status dropped = drop_expired_sessions(objects, opened_store.key()); !dropped.ok()) return dropped;
  auto sessions = find_leases_before(objects, opened_store.key(), proposal.epoch);
  if (!sessions) return sessions.error();
  outcome.awaited = std::move(*sessions);
  if (!outcome.awaited.empty()) return outcome;

  auto state = read_state(opened_store);
  if (!state) return state.error();
  removal_list decision{proposal.epoch + 1, removal_state::decided, proposal.containers};
  const bool are_all_marked =
      std::ranges::all_of(state->snapshots, [&](const auto& each) { return marked.contains(each.id); });
  if (!are_all_marked) {
    marking_options marking = options;
    marking.usable = std::move(state->containers);
    marking.avoided = proposal.containers;
    const auto marks = mark_snapshots(opened_store, state->snapshots, marking);
    if (!marks) return marks.error();
    for (std::size_t i = 0; i < marks->container_count(); ++i) {
      if (marks->live_count(i) != 0 && decision.containers.erase(marks->name(i)) != 0) ++outcome.kept_count;
    }
  }
  if (status decided = put_next_list(opened_store, decision); !decided.ok()) return decided;
  if (status removed = carry_out(objects, decision); !removed.ok()) return removed;
  outcome.decision = std::move(decision);
  return outcome;
}

status settle_removals(open_store& opened_store,
                       const std::function<void(const std::string& object, const status& why)>& damaged) {
  bool is_damaged = false;
  const auto newest =
      read_newest_list(opened_store.objects(), opened_store.key(), [&](const object_name& list, const status& why) {
        is_damaged = true;
        damaged(path_of(list), why);
      });
  if (!newest) return newest.error();
  if (!is_damaged) {
    return newest->state == removal_state::proposed ? status() : carry_out(opened_store.objects(), *newest);
  }
  const removal_list empty{newest->epoch + 1, removal_state::decided, {}};
  const status put = put_next_list(opened_store, empty);
  return put.ok() ? carry_out(opened_store.objects(), empty) : put;
}

status carry_out(storage& objects, const removal_list& decision) {
  const auto ids = objects.list(object_kind::container);
  if (!ids) return ids.error();
  for (const std::string& id : *ids) {
    const auto name = container_name_of(id);
    if (!name || !decision.containers.contains(*name)) continue;
    if (status removed = objects.remove({object_kind::container, id}); !removed.ok()) return removed;
  }
  if (status synced = objects.sync(); !synced.ok()) return synced;
  if (status removed = remove_lists_before(objects, decision.epoch); !removed.ok()) return removed;
  return objects.sync();
}

}  // namespace cutpoint::store
