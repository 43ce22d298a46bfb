// The public class of a store: lists of snapshots, and what is in them.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <utility>

#include <cutpoint/store_diff.h>
#include <cutpoint/store_policy.h>
#include <fmt/format.h>

#include "store/api/backup_store.h"
#include "store/format/failure.h"
#include "store/format/object_header.h"
#include "store/restore/restore.h"
#include "store/session/content_window.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint {

store_snapshot backup_store::named_store::snapshot_of(std::string id, const store::snapshot& facts) {
  return {.id = std::move(id),
          .sequence = facts.sequence,
          .time = facts.time,
          .duration = facts.duration,
          .is_incomplete = facts.is_incomplete,
          .parent = facts.parent,
          .host = facts.host,
          .paths = facts.paths,
          .tags = facts.tags,
          .original = facts.original,
          .files = facts.statistics.files,
          .folders = facts.statistics.folders,
          .bytes = facts.statistics.bytes,
          .new_raw_bytes = facts.statistics.new_raw_bytes,
          .new_stored_bytes = facts.statistics.new_stored_bytes};
}

/// Reads a snapshot by its whole id. Errors: invalid_argument, if no snapshot has it; those of `open_store::read`.
result<store::snapshot> backup_store::named_store::read(const std::string& id) {
  const status unknown(status_code::invalid_argument, fmt::format("{}: no snapshot has the id {}", name, id));
  if (!store::is_valid_id(id)) return unknown;  // it could name another object
  CUTPOINT_TRY(const auto is_committed, named(opened_store->is_committed(id)));
  if (!is_committed) return unknown;
  auto snapshot = opened_store->read(id);
  if (!snapshot && store::is_absence(snapshot.error())) return unknown;
  return named(std::move(snapshot));
}

result<std::vector<store_snapshot>> backup_store::snapshots(const store_problem& problem) {
  CUTPOINT_TRY(const auto all, implementation_->named(implementation_->opened_store->snapshots(problem)));
  std::vector<store_snapshot> snapshots;
  for (const auto& each : all) snapshots.push_back(named_store::snapshot_of(each.id, each.facts));
  return snapshots;
}

namespace {

/// Finds snapshots among those that a filter matches.
class snapshot_finder {
 public:
  /// Lists the snapshots. `store_name` must outlive the finder. Errors: those of `backup_store::snapshots`.
  [[nodiscard]] static result<snapshot_finder> list(backup_store& store, const std::string& store_name,
                                                    const snapshot_filter& filter) {
    snapshot_finder finder(store_name);
    CUTPOINT_TRY(auto all, store.snapshots([&](const std::string& path, const status& why) {
      finder.unreadable_.emplace_back(path.substr(path.rfind('/') + 1), why);
    }));
    for (store_snapshot& each : all) {
      if (!filter.matches(each)) continue;
      finder.latest_ = each.id;
      finder.by_id_.emplace(each.id, std::move(each));
    }
    finder.is_filtered_ = finder.by_id_.size() != all.size();
    return finder;
  }

  [[nodiscard]] result<store_snapshot> find(std::string_view id) const {
    return id == "latest" ? find_latest() : find_by_id(id);
  }

 private:
  explicit snapshot_finder(const std::string& store_name) : store_name_(store_name) {}

  [[nodiscard]] result<store_snapshot> find_latest() const {
    if (!unreadable_.empty()) {
      const status& why = unreadable_.back().second;
      return status(why.code(), "which snapshot is the latest is unknown: " + why.message(), why.system_error());
    }
    if (!by_id_.empty()) return by_id_.find(latest_)->second;
    return status(status_code::invalid_argument,
                  fmt::format("latest: no snapshot {} {}{}", is_filtered_ ? "of" : "is in", store_name_,
                              is_filtered_ ? " matches the filter" : ""));
  }

  [[nodiscard]] result<store_snapshot> find_by_id(std::string_view id) const {
    const auto first = id.empty() ? by_id_.end() : by_id_.lower_bound(id);
    const auto is_match = [&](auto position) { return position != by_id_.end() && position->first.starts_with(id); };
    std::size_t count = 0;
    for (auto each = first; is_match(each); ++each) ++count;
    if (count == 1) return first->second;
    const auto unreadable =
        std::ranges::find_if(unreadable_, [&](const auto& each) { return !id.empty() && each.first.starts_with(id); });
    if (count == 0 && unreadable != unreadable_.end()) return unreadable->second;
    const std::string which = count == 0 ? "no snapshot" : fmt::format("{} snapshots", count);
    return status(status_code::invalid_argument, fmt::format("{}: {} of {} begins with it{}", id, which, store_name_,
                                                             is_filtered_ ? " and matches the filter" : ""));
  }

  const std::string& store_name_;
  std::map<std::string, store_snapshot, std::less<>> by_id_;
  std::string latest_;  ///< id
  bool is_filtered_ = false;
  std::vector<std::pair<std::string, status>> unreadable_;  ///< names of objects that may be snapshots, and why
};

}  // namespace

result<store_snapshot> backup_store::find_snapshot(std::string_view id) { return find_snapshot(id, snapshot_filter()); }

result<store_snapshot> backup_store::find_snapshot(std::string_view id, const snapshot_filter& filter) {
  CUTPOINT_TRY(const auto finder, snapshot_finder::list(*this, implementation_->name, filter));
  return finder.find(id);
}

result<std::vector<result<store_snapshot>>> backup_store::find_snapshots(std::span<const std::string> ids,
                                                                         const snapshot_filter& filter) {
  CUTPOINT_TRY(const auto finder, snapshot_finder::list(*this, implementation_->name, filter));
  std::vector<result<store_snapshot>> outcomes;
  for (const std::string& each : ids) outcomes.push_back(finder.find(each));
  return outcomes;
}

result<store_restore_summary> backup_store::restore(const std::string& id, const store_restore_options& options) {
  CUTPOINT_TRY(const auto snapshot, implementation_->read(id));
  if (options.removes_others && snapshot.is_incomplete) {
    return status(
        status_code::invalid_argument,
        fmt::format(
            "{}: the snapshot is incomplete, so files that it lacks are not removed: it may lack what could not "
            "be read",
            id));
  }
  return store::restore_files(implementation_->opened_store->reading(),
                              {.root = snapshot.root,
                               .complete_paths = snapshot.paths,
                               .files = snapshot.statistics.files,
                               .bytes = snapshot.statistics.bytes,
                               .store_folder = implementation_->folder},
                              options);
}

status backup_store::list_files(const std::string& id, std::string_view path,
                                const std::function<status(const stored_file&)>& visit) {
  CUTPOINT_TRY(const auto snapshot, implementation_->read(id));
  CUTPOINT_TRY(auto nodes, implementation_->reader());
  CUTPOINT_TRY(const auto place, store::find_path(snapshot.root, path, nodes));
  return store::visit_tree(place, std::string(path), nodes,
                           [&](const std::string& below, const store::folder_entry& entry) {
                             return visit({static_cast<const file_metadata&>(entry), below});
                           });
}

status backup_store::read_file(const std::string& id, std::string_view path, std::uint64_t begin, std::uint64_t end,
                               const std::function<status(byte_span)>& take) {
  CUTPOINT_TRY(const auto snapshot, implementation_->read(id));
  CUTPOINT_TRY(auto records, store::window_reader::make(implementation_->opened_store->reading()));
  CUTPOINT_TRY(const auto file, store::find_path(snapshot.root, path, records));
  return store::dump_file(file, begin, end, records, take);
}

result<store_diff_summary> backup_store::diff(const store_diff_options& options) {
  CUTPOINT_TRY(auto nodes, implementation_->reader());
  const auto folder = [&](const std::string& id, const std::string& path) -> result<store::placed_entry> {
    CUTPOINT_TRY(const auto snapshot, implementation_->read(id));
    auto place = store::find_path(snapshot.root, path, nodes);
    if (place && (place->kind != file_kind::directory || !place->node)) {
      return status(status_code::io_error, path + ": it is not a folder", ENOTDIR);
    }
    return place;
  };
  CUTPOINT_TRY(const auto before, folder(options.before, options.before_path));
  CUTPOINT_TRY(const auto after, folder(options.after, options.after_path));
  return store::compare_trees(*before.node, *after.node, nodes, options);
}

}  // namespace cutpoint
