#include "store/upkeep/removal.h"

#include <algorithm>
#include <iterator>

#include "store/format/container.h"
#include "store/format/failure.h"
#include "store/upkeep/container_audit.h"

namespace cutpoint::store {

namespace {

status overtaken() {
  return {status_code::unavailable, "another prune has begun meanwhile; nothing more was removed: try again"};
}

}  // namespace

result<store_state> read_state(open_store& opened_store) {
  CUTPOINT_TRY(auto log, opened_store.read_log());
  status unreadable;
  auto snapshots = opened_store.snapshots(log, [&](const std::string& object, const status& why) {
    if (!unreadable.ok()) return;
    unreadable = {why.code(), why.message() + "; nothing is removed while it is unknown what " + object + " needs",
                  why.system_error()};
  });
  if (!snapshots) return snapshots.error();
  if (!unreadable.ok()) return unreadable;
  CUTPOINT_RETURN_IF_FAILED(opened_store.reopen_shards());
  return store_state{std::move(log), std::move(*snapshots)};
}

result<live_records> mark_snapshots(open_store& opened_store, const std::vector<open_store::listed_snapshot>& snapshots,
                                    const marking_options& options) {
  table_cache tables(opened_store.objects(), opened_store.key(), table_cache::usual_bytes, options.lost);
  CUTPOINT_TRY(auto shards, opened_store.open_index(opened_store.objects(), tables));
  std::vector<record_reference> roots;
  for (const auto& each : snapshots) roots.push_back(each.facts.root);
  return live_records::mark(opened_store.reading(shards), roots, options);
}

status remover::propose(removal& proposed, store_log known) {
  log_entry entry;
  entry.kind = log_entry_kind::proposal;
  entry.removed_containers = proposed.containers;
  open_store& store = session_.target();
  for (;;) {
    CUTPOINT_TRY(const auto number, append_to_log(*session_.open_storage(), store.key(), known, entry));
    if (number) {
      proposed.number = *number;
      return {};
    }
    CUTPOINT_TRY(auto now, store.read_log());
    // A commit that was faster is seen before the decision.
    if (now.decision != known.decision || now.proposal != known.proposal) return overtaken();
    known = std::move(now);
  }
}

/// The leases of other sessions that began before an entry of the log and have not expired.
result<std::vector<listed_lease>> remover::sessions_before(std::uint64_t number) {
  open_store& store = session_.target();
  CUTPOINT_RETURN_IF_FAILED(end_expired_sessions(store));
  CUTPOINT_TRY(auto leases, list_leases(store.objects(), store.key()));
  const std::int64_t now = store.objects().now();
  std::erase_if(leases, [&](const listed_lease& each) {
    return each.facts.epoch >= number || session_of(each.id) == session_.name() ||
           each.facts.time_left(now).count() < 0;
  });
  return leases;
}

/// Takes containers out that a snapshot needs, or that have the only whole copy of a record which it needs.
status remover::spare_needed(const store_state& state, const removal& proposed, marking_options options,
                             std::set<container_name>& containers) {
  CUTPOINT_RETURN_IF_FAILED(session_.target().shards().rebuild_damaged());
  options.lost = state.log.lost();
  options.avoided = proposed.containers;
  CUTPOINT_TRY(auto marks, mark_snapshots(session_.target(), state.snapshots, options));
  for (std::size_t i = 0; i < marks.container_count(); ++i) {
    if (marks.live_count(i) != 0) containers.erase(marks.name(i));
  }
  return copies_.spare(marks, options.lost, containers);
}

result<removal_outcome> remover::complete(const removal& proposed, const marking_options& options) {
  removal_outcome outcome;
  open_store& store = session_.target();
  CUTPOINT_TRY(outcome.awaited, sessions_before(proposed.number));
  if (!outcome.awaited.empty()) return outcome;
  for (;;) {
    CUTPOINT_TRY(auto state, read_state(store));
    if (state.log.decision > proposed.number) return overtaken();
    std::set<container_name> containers = proposed.containers;
    const bool are_all_marked =
        std::ranges::includes(proposed.condemned, state.log.condemned) &&
        std::ranges::all_of(state.snapshots, [&](const auto& each) { return proposed.marked.contains(each.id); });
    if (!are_all_marked) CUTPOINT_RETURN_IF_FAILED(spare_needed(state, proposed, options, containers));
    log_entry decision;
    decision.kind = log_entry_kind::decision;
    decision.removed_containers = containers;
    std::ranges::set_difference(state.log.condemned, containers,
                                std::inserter(decision.condemned_containers, decision.condemned_containers.end()));
    for (const auto& each : state.snapshots) decision.snapshots.insert(each.id);
    decision.removed_keys = state.log.removed_keys;
    // A session commits no snapshot that it has put before the decision, unless it is committed before that.
    CUTPOINT_TRY(const auto present, store.objects().list(object_kind::snapshot));
    CUTPOINT_TRY(const auto number, append_to_log(*session_.open_storage(), store.key(), state.log, decision));
    if (!number) continue;
    CUTPOINT_TRY(auto log, store.read_log());
    if (log.decision != *number) return overtaken();
    CUTPOINT_RETURN_IF_FAILED(sweep(present, decision.snapshots));
    CUTPOINT_RETURN_IF_FAILED(carry_out(log));
    outcome.kept_count = proposed.containers.size() - containers.size();
    outcome.removed = std::move(containers);
    return outcome;
  }
}

/// Removes snapshots that nobody has committed or that others have replaced.
status remover::sweep(const std::vector<std::string>& snapshots, const std::set<std::string>& committed) {
  storage& objects = session_.target().objects();
  for (const std::string& each : snapshots) {
    if (committed.contains(each)) continue;
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::snapshot, each}));
  }
  return {};
}

status remover::carry_out(const store_log& log) {
  open_store& store = session_.target();
  storage& objects = store.objects();
  for (const container_name& each : log.decided) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::container, id_of(each)}));
  }
  for (const std::string& each : log.removed_keys) {
    CUTPOINT_RETURN_IF_FAILED(remove_object(objects, {object_kind::key, each}));
  }
  CUTPOINT_RETURN_IF_FAILED(objects.sync());
  // No shard names them when the next decision is made.
  if (!log.decided.empty()) {
    CUTPOINT_RETURN_IF_FAILED(store.reopen_shards());
    CUTPOINT_RETURN_IF_FAILED(
        store.shards().drop_containers([&](const container_name& each) { return !log.decided.contains(each); }));
  }
  CUTPOINT_RETURN_IF_FAILED(remove_entries_before(objects, log.decision, log.last_oldest));
  return objects.sync();
}

status kept_copies::spare(const live_records& marks, const std::set<container_name>& lost,
                          std::set<container_name>& removed) {
  storage& objects = opened_store_.objects();
  table_cache tables(objects, opened_store_.key(), table_cache::usual_bytes, lost);
  CUTPOINT_TRY(auto shards, opened_store_.open_index(objects, tables));
  CUTPOINT_TRY(auto check, opened_store_.reading().make_fingerprinter());
  std::vector<found_record> copies;
  // Whether all copies of a container's records that are kept instead of it are whole.
  const auto has_whole_copies = [&](const container_name& name) -> result<bool> {
    CUTPOINT_TRY(const auto table, tables.find(name));
    if (table == nullptr) return true;  // it is lost, or removed already
    for (const placed_record& each : table->records) {
      if (each.description.kind == record_kind::padding) continue;
      if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
      copies.clear();
      CUTPOINT_RETURN_IF_FAILED(shards.locate_all(each.description.kind, each.description.content, copies));
      for (const found_record& copy : copies) {
        const auto container = marks.find(*container_name_of(copy.container->id));
        if (!container || removed.contains(marks.name(*container)) || !marks.is_live(*container, copy.ordinal))
          continue;
        const auto whole = is_whole(copy, check);
        if (!whole || !*whole) return whole;
      }
    }
    return true;
  };
  for (auto each = removed.begin(); each != removed.end();) {
    CUTPOINT_TRY(const auto whole, has_whole_copies(*each));
    each = whole ? std::next(each) : removed.erase(each);
  }
  return {};
}

result<bool> kept_copies::is_whole(const found_record& copy, record_fingerprinter& check) {
  const place where{*container_name_of(copy.container->id), copy.ordinal};
  if (whole_.contains(where)) return true;
  if (broken_.contains(where)) return false;
  const auto content = read_record(opened_store_.objects(), *copy.container, copy.place, opened_store_.key());
  if (!content && !is_damage(content.error()) && !is_absence(content.error())) return content.error();
  CUTPOINT_TRY(const bool is_right,
               content ? has_digest(copy.place.description, *content, check) : result<bool>(false));
  (is_right ? whole_ : broken_).insert(where);
  if (!is_right && damaged_) {
    damaged_(path_of({object_kind::container, copy.container->id}),
             content ? damage("a record", "its bytes do not have its digest") : content.error());
  }
  return is_right;
}

}  // namespace cutpoint::store
