// The public class of a store: lists of snapshots, and what is in them.
#include <algorithm>
#include <cerrno>

#include <cutpoint/store_diff.h>
#include <fmt/format.h>

#include "store/api/backup_store.h"
#include "store/diff/diff.h"
#include "store/files/dump.h"
#include "store/files/list.h"
#include "store/format/failure.h"
#include "store/restore/restore.h"

namespace cutpoint {

store_snapshot backup_store::implementation::snapshot_of(std::string id, const store::snapshot& taken) {
  return {.id = std::move(id),
          .sequence = taken.sequence,
          .time = taken.time,
          .duration = taken.duration,
          .is_incomplete = taken.is_incomplete,
          .parent = taken.parent,
          .host = taken.host,
          .paths = taken.paths,
          .tags = taken.tags,
          .files = taken.statistics.files,
          .folders = taken.statistics.folders,
          .bytes = taken.statistics.bytes,
          .new_raw_bytes = taken.statistics.new_raw_bytes,
          .new_stored_bytes = taken.statistics.new_stored_bytes};
}

/// Reads a snapshot by its whole id. Errors: invalid_argument, if no snapshot has it; those of `open_store::read`.
result<store::snapshot> backup_store::implementation::read(const std::string& id) {
  const status unknown(status_code::invalid_argument, fmt::format("{}: no snapshot has the id {}", folder, id));
  if (!store::is_valid_id(id)) return unknown;  // it could name another object
  auto taken = opened->read(id);
  if (taken) return taken;
  return store::is_absence(taken.error()) ? unknown : named(taken.error());
}

result<std::vector<store_snapshot>> backup_store::snapshots(const store_problem& problem) {
  const auto all = held_->opened->snapshots(problem);
  if (!all) return held_->named(all.error());
  std::vector<store_snapshot> found;
  for (const auto& each : *all) found.push_back(implementation::snapshot_of(each.id, each.taken));
  return found;
}

result<store_snapshot> backup_store::find_snapshot(std::string_view id) {
  auto all = snapshots();
  if (!all) return all.error();
  if (id == "latest" && !all->empty()) return std::move(all->back());
  std::vector<const store_snapshot*> found;
  for (const store_snapshot& each : *all) {
    if (!id.empty() && each.id.starts_with(id)) found.push_back(&each);
  }
  if (found.size() == 1) return *found.front();
  const std::string which = found.empty() ? "no snapshot" : fmt::format("{} snapshots", found.size());
  return status(status_code::invalid_argument, fmt::format("{}: {} of {} begins with it", id, which, held_->folder));
}

result<store_restore_summary> backup_store::restore(const std::string& id, const store_restore_options& options) {
  const auto taken = held_->read(id);
  if (!taken) return taken.error();
  const auto restored = store::restore_files(held_->opened->reading(), taken->root,
                                             {.path = options.path,
                                              .target = options.target,
                                              .include = options.include,
                                              .replaces_files = options.replaces_files,
                                              .verifies = options.verifies,
                                              .threads = options.threads,
                                              .problem = options.problem,
                                              .cancel = options.cancel});
  if (!restored) return restored.error();
  return store_restore_summary{restored->files,    restored->folders,       restored->bytes,
                               restored->problems, restored->written_bytes, restored->read_containers};
}

status backup_store::list_files(const std::string& id, std::string_view path,
                                const std::function<status(const stored_file&)>& visit) {
  const auto taken = held_->read(id);
  if (!taken) return taken.error();
  auto nodes = held_->reader();
  if (!nodes) return nodes.error();
  const auto found = store::find_path(taken->root, path, *nodes);
  if (!found) return found.error();
  return store::visit_tree(*found, std::string(path), *nodes,
                           [&](const std::string& below, const store::folder_entry& entry) {
                             return visit({entry, below});
                           });
}

status backup_store::read_file(const std::string& id, std::string_view path, std::uint64_t begin, std::uint64_t end,
                               const std::function<status(byte_span)>& take) {
  const auto taken = held_->read(id);
  if (!taken) return taken.error();
  auto records = held_->reader();
  if (!records) return records.error();
  const auto file = store::find_path(taken->root, path, *records);
  if (!file) return file.error();
  return store::dump_file(*file, begin, end, *records, take);
}

result<store_diff_summary> backup_store::diff(const store_diff_options& options) {
  auto nodes = held_->reader();
  if (!nodes) return nodes.error();
  const auto folder = [&](const std::string& id, const std::string& path) -> result<store::folder_entry> {
    const auto taken = held_->read(id);
    if (!taken) return taken.error();
    auto found = store::find_path(taken->root, path, *nodes);
    if (found && (found->kind != file_kind::directory || !found->node)) {
      return status(status_code::io_error, path + ": it is not a folder", ENOTDIR);
    }
    return found;
  };
  const auto before = folder(options.before, options.before_path);
  if (!before) return before.error();
  const auto after = folder(options.after, options.after_path);
  if (!after) return after.error();
  return store::compare_trees(*before->node, *after->node, *nodes, options);
}

}  // namespace cutpoint
