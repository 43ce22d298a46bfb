// The public class of a store: removal of snapshots and of what nothing refers to, checks, repairs and reports.
#include <algorithm>

#include <cutpoint/store_report.h>
#include <fmt/format.h>

#include "store/api/backup_store.h"
#include "store/format/failure.h"
#include "store/objects/lease.h"
#include "store/session/leased_session.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint {

status backup_store::remove_snapshot(const std::string& id) {
  status failure;
  const auto removed = remove_snapshots({id}, [&](const std::string&, const status& why) { failure = why; });
  return failure.ok() && !removed ? removed.error() : failure;
}

result<std::size_t> backup_store::remove_snapshots(const std::set<std::string>& ids, const store_problem& problem,
                                                   const cancellation* cancel) {
  store::storage& objects = implementation_->opened_store->objects();
  const auto is_cancelled = [&] { return cancel != nullptr && cancel->is_requested(); };
  const auto remove = [&](const std::string& id) -> status {
    // A snapshot that is damaged can be removed.
    const auto snapshot = implementation_->read(id);
    if (!snapshot && snapshot.error().code() == status_code::invalid_argument) return snapshot.error();
    return implementation_->named(store::remove_object(objects, {store::object_kind::snapshot, id}));
  };
  std::size_t count = 0;
  for (const std::string& each : ids) {
    if (is_cancelled()) break;
    const status removed = remove(each);
    count += removed.ok() ? 1u : 0u;
    if (!removed.ok() && problem) problem(each, removed);
  }
  CUTPOINT_RETURN_IF_FAILED(implementation_->named(objects.sync()));
  if (is_cancelled()) return stopped_as_asked();
  return count;
}

result<std::map<std::string, std::int64_t>> backup_store::put_times() {
  CUTPOINT_TRY(
      const auto listed,
      implementation_->named(implementation_->opened_store->objects().list_details(store::object_kind::snapshot)));
  std::map<std::string, std::int64_t> times;
  for (const store::listed_object& each : listed) {
    if (each.time == 0) {
      return status(
          status_code::unavailable,
          fmt::format("{}: it is not known here when snapshots were put, so the times that they have cannot be "
                      "compared with that",
                      implementation_->name));
    }
    times.emplace(each.id, each.time);
  }
  return times;
}

result<store_prune_summary> backup_store::prune(const store_prune_options& options) {
  if (!(options.most_unused >= 0 && options.most_unused <= 1)) {
    return status(status_code::invalid_argument,
                  fmt::format("most_unused = {} must be from 0 to 1", options.most_unused));
  }
  store::open_store& opened_store = *implementation_->opened_store;
  auto done = store::prune_store(opened_store, options);
  if (!done && store::is_lack_of_room(done.error()) && !options.is_dry_run) {
    const auto has_room = store::remove_reserve(*opened_store.open_storage_of(store::new_session_id()));
    if (has_room && *has_room) done = store::prune_store(opened_store, options);
  }
  if (!done) return implementation_->named(done.error());
  if (!options.is_dry_run) {
    static_cast<void>(
        store::put_reserve(*opened_store.open_storage_of(store::new_session_id())));  // else the next prune does
  }
  return done;
}

result<store_check_summary> backup_store::check(const store_check_options& options) {
  const store_data_subset& subset = options.subset;
  if (subset.number == 0 || subset.number > subset.subset_count || !(subset.share > 0 && subset.share <= 1)) {
    return status(status_code::invalid_argument, fmt::format("no data are subset {} of {}, or a share of {}",
                                                             subset.number, subset.subset_count, subset.share));
  }
  return implementation_->named(store::check_store(implementation_->opened_store->reading(), options));
}

result<store_repair_summary> backup_store::repair(const store_repair_options& options) {
  auto repaired = store::repair_store(*implementation_->opened_store, options);
  const status reopened =
      implementation_->opened_store->reopen_shards();  // the index is another one, perhaps also after a failure
  if (repaired) CUTPOINT_RETURN_IF_FAILED(implementation_->named(reopened));
  return implementation_->named(std::move(repaired));
}

result<store_edit_summary> backup_store::change_tags(const store_tag_options& options) {
  return implementation_->named(store::change_tags(*implementation_->opened_store, options));
}

result<store_edit_summary> backup_store::rewrite(const store_rewrite_options& options) {
  CUTPOINT_TRY(const auto rewritten,
               implementation_->named(store::rewrite_snapshots(*implementation_->opened_store, options)));
  if (rewritten.edited != 0 && !options.is_dry_run) implementation_->merge_shards();
  return rewritten;
}

result<store_report> backup_store::report(const store_report_options& options) {
  return implementation_->named(store::report_store(*implementation_->opened_store, options));
}

result<std::vector<store_session>> backup_store::sessions() {
  store::open_store& opened_store = *implementation_->opened_store;
  CUTPOINT_TRY(const auto leases,
               implementation_->named(store::list_leases(opened_store.objects(), opened_store.key())));
  std::vector<store_session> sessions;
  const std::int64_t now = opened_store.objects().now();
  for (const store::listed_lease& each : leases) {
    sessions.push_back({std::string(store::session_of(each.id)), each.facts.owner, each.facts.time_left(now).count()});
  }
  std::ranges::sort(sessions, {}, &store_session::id);
  return sessions;
}

status backup_store::end_session(const std::string& id) {
  CUTPOINT_TRY(const auto all, sessions());
  if (std::ranges::count(all, id, &store_session::id) == 0) {
    return {status_code::invalid_argument, fmt::format("{}: no session has the id {}", implementation_->name, id)};
  }
  return implementation_->named(store::end_sessions(*implementation_->opened_store, {id}));
}

result<store_statistics> backup_store::statistics() {
  store::open_store& opened_store = *implementation_->opened_store;
  store_statistics sum;
  for (const store::shard_container& each : opened_store.shards().containers()) {
    ++sum.containers;
    sum.container_bytes += each.bytes;
  }
  const auto skip = [](const store::object_name&, const status&) {};
  CUTPOINT_TRY(const auto log, implementation_->named(opened_store.read_log(skip)));
  CUTPOINT_TRY(const auto snapshots, implementation_->named(opened_store.objects().list(store::object_kind::snapshot)));
  sum.snapshots = static_cast<std::uint64_t>(
      std::ranges::count_if(snapshots, [&](const std::string& id) { return log.snapshots.contains(id); }));
  CUTPOINT_TRY(const auto shards,
               implementation_->named(opened_store.objects().list_details(store::object_kind::shard)));
  sum.shards = shards.size();
  for (const store::listed_object& each : shards) sum.shard_bytes += each.bytes;
  sum.records = opened_store.shards().entry_count();
  return sum;
}

}  // namespace cutpoint
