// The members of the store behind cutpoint.Store that compare, choose, edit and copy snapshots, and that prune.
#include <array>
#include <chrono>

#include <cutpoint/store_diff.h>
#include <cutpoint/store_policy.h>
#include <nanobind/stl/string_view.h>

#include "bindings/python/errors.h"
#include "bindings/python/settings.h"
#include "bindings/python/store.h"

namespace cutpoint::python {

namespace {

/// The names of `store_change_kind`.
constexpr std::array change_names = {"added", "removed", "modified", "retyped", "metadata"};

/// Returns tags, each of which is a list of its own.
std::vector<std::vector<std::string>> lists_of(std::vector<std::string> tags) {
  std::vector<std::vector<std::string>> lists;
  for (std::string& each : tags) lists.push_back({std::move(each)});
  return lists;
}

auto note_copy_in(id_pairs& copies) {
  return [&copies](const store_snapshot& original, const store_snapshot& copy) {
    copies.emplace_back(original.id, copy.id);
  };
}

auto note_pair_in(id_pairs& pairs) {
  return [&pairs](const std::string& first, const std::string& second) { pairs.emplace_back(first, second); };
}

/// What an edit of snapshots tells.
struct edit_notes {
  id_pairs edited;
  id_pairs left_out;
  std::vector<noted_problem> problems;
  std::vector<noted_problem> warnings;

  [[nodiscard]] nb::dict record_of(const store_edit_summary& summary) const {
    nb::list files;
    for (const auto& [id, path] : left_out) files.append(nb::make_tuple(id, system_text(path)));
    nb::dict record;
    record["edited"] = ids_of(edited);
    record["unchanged"] = summary.unchanged;
    record["left_out"] = files;
    record["problems"] = records_of(problems);
    record["warnings"] = records_of(warnings);
    return record;
  }
};

nb::dict record_of(const store_diff_side& counts) {
  nb::dict record;
  record["files"] = counts.files;
  record["folders"] = counts.folders;
  record["others"] = counts.others;
  record["bytes"] = counts.bytes;
  return record;
}

}  // namespace

nb::dict open_store::change_tags(const call_options& options) {
  edit_notes notes;
  store_tag_options edit{.snapshots = options.ids("snapshots"),
                         .added = options.texts("add"),
                         .removed = options.texts("remove"),
                         .edited = note_pair_in(notes.edited),
                         .problem = note_in(notes.problems)};
  if (!nb::object(options["tags"]).is_none()) edit.tags = options.texts("tags");
  return notes.record_of(value_of(use([&](backup_store& store, cancellation& cancel) {
    edit.cancel = &cancel;
    return store.change_tags(edit);
  })));
}

nb::dict open_store::rewrite(const call_options& options) {
  edit_notes notes;
  store_rewrite_options edit{.snapshots = options.ids("snapshots"),
                             .exclude = options.patterns("exclude"),
                             .replaces_originals = options.get<bool>("replace"),
                             .is_dry_run = options.get<bool>("dry_run"),
                             .left_out = note_pair_in(notes.left_out),
                             .edited = note_pair_in(notes.edited),
                             .problem = note_in(notes.problems),
                             .warning = note_in(notes.warnings)};
  return notes.record_of(value_of(use([&](backup_store& store, cancellation& cancel) {
    edit.cancel = &cancel;
    return store.rewrite(edit);
  })));
}

nb::list open_store::apply_policy(const call_options& options) {
  const auto spans = options.get<std::array<std::string, keep_period_count>>("spans");
  snapshot_policy policy{.counts = options.get<std::array<std::uint64_t, keep_period_count>>("counts"),
                         .tags = lists_of(options.texts("keep_tags"))};
  for (std::size_t period = 0; period < keep_period_count; ++period) {
    if (!spans[period].empty()) policy.spans[period] = value_or_raise(parse_calendar_span(spans[period]));
  }
  const snapshot_filter filter{
      .hosts = options.texts("hosts"), .paths = options.texts("paths"), .tags = lists_of(options.texts("tags"))};
  const snapshot_grouping grouping{options.get<bool>("by_host"), options.get<bool>("by_paths"),
                                   options.get<bool>("by_tags")};
  auto all = value_of(use([](backup_store& store, cancellation&) { return store.snapshots(); }));
  std::erase_if(all, [&](const store_snapshot& each) { return !filter.matches(each); });
  const bool distrusts_times = options.get<bool>("distrust_times");
  snapshot_put_times put_times;
  if (distrusts_times) put_times = value_of(use([](backup_store& store, cancellation&) { return store.put_times(); }));
  const snapshot_put_times* const trusted_times = distrusts_times ? &put_times : nullptr;
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  nb::list decided;
  for (const snapshot_group& group :
       value_or_raise(cutpoint::apply_policy(all, policy, grouping, now.count(), trusted_times))) {
    for (const snapshot_decision& each : group.decisions) {
      decided.append(nb::make_tuple(python::record_of(each.snapshot), system_texts(each.reasons)));
    }
  }
  return decided;
}

nb::dict open_store::diff(const call_options& options) {
  std::vector<store_change> changes;
  std::vector<noted_problem> problems;
  store_diff_options folders{.before = options.text("before"),
                             .before_path = options.text("before_path"),
                             .after = options.text("after"),
                             .after_path = options.text("after_path"),
                             .compares_metadata = options.get<bool>("compare_metadata"),
                             .visit =
                                 [&](const store_change& change) {
                                   changes.push_back(change);
                                   return status();
                                 },
                             .problem = note_in(problems)};
  const auto compared = value_of(use([&](backup_store& store, cancellation& cancel) {
    folders.cancel = &cancel;
    return store.diff(folders);
  }));
  nb::list visited;
  for (const store_change& each : changes) {
    visited.append(nb::make_tuple(system_text(each.path), change_names.at(static_cast<std::size_t>(each.which)),
                                  to_string(each.kind)));
  }
  nb::dict record;
  record["changes"] = visited;
  record["modified"] = compared.modified;
  record["added"] = record_of(compared.added);
  record["removed"] = record_of(compared.removed);
  record["problems"] = records_of(problems);
  return record;
}

nb::dict open_store::prune(const call_options& options) {
  std::vector<noted_problem> damaged;
  store_prune_options removal{.most_unused = options.get<double>("most_unused"),
                              .is_dry_run = options.get<bool>("rehearse"),
                              .forgotten = options.ids("forgotten"),
                              .damaged = note_in(damaged),
                              .threads = options.get<std::uint64_t>("threads")};
  options.read("most_rewritten_bytes", removal.most_rewritten_bytes);
  const auto pruned =
      value_of(use(options, removal, [&](backup_store& store, cancellation&) { return store.prune(removal); }));
  nb::dict record;
  record["containers"] = pruned.containers;
  record["container_bytes"] = pruned.container_bytes;
  record["unused_bytes"] = pruned.unused_bytes;
  record["removed_containers"] = pruned.removed_containers;
  record["removed_bytes"] = pruned.removed_bytes;
  record["rewritten_containers"] = pruned.rewritten_containers;
  record["rewritten_bytes"] = pruned.rewritten_bytes;
  record["left_unused_bytes"] = pruned.left_unused_bytes;
  record["kept_containers"] = pruned.kept_containers;
  record["waiting_containers"] = pruned.waiting_containers;
  record["damaged_copies"] = pruned.damaged_copies;
  record["missing_bytes"] = pruned.missing_bytes;
  record["damaged"] = records_of(damaged);
  record["awaited"] = system_texts(pruned.awaited);
  return record;
}

nb::dict open_store::copy_snapshots(open_store& source, const call_options& options) {
  if (&source == this) raise(PyExc_ValueError, "the source is the store that is copied into");
  const exclusive_use use_of_source(source.busy_);
  id_pairs copied, skipped;
  std::vector<noted_problem> problems;
  std::string device_warning;
  store_copy_options copy{.snapshots = options.texts("snapshots"),
                          .threads = options.get<std::uint64_t>("threads"),
                          .lanes = make_lanes(options.get<lane_fields>("lanes")),
                          .copied = note_copy_in(copied),
                          .skipped = note_copy_in(skipped),
                          .problem = note_in(problems),
                          .work = note_warning_in(device_warning)};
  options.read("memory_bytes", copy.memory_bytes);
  const auto run = [&, &from = source.store()](backup_store& store, cancellation&) -> result<store_copy_summary> {
    const auto engine = find_engine({.count = copy.threads, .owned = nullptr});
    if (!engine) return engine.error();
    return store.copy_snapshots(**engine, from, copy);
  };
  const auto sum = value_of(use(options, copy, run));
  nb::dict record;
  record["copied"] = ids_of(copied);
  record["skipped"] = ids_of(skipped);
  record["problems"] = records_of(problems);
  record["new_raw_bytes"] = sum.new_raw_bytes;
  record["new_stored_bytes"] = sum.new_stored_bytes;
  record["device_warning"] = device_warning;
  return record;
}

nb::tuple system_texts(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& each : texts) list.append(system_text(each));
  return nb::tuple(list);
}

nb::dict record_of(const store_snapshot& snapshot) {
  nb::dict record;
  record["id"] = sentence_text(snapshot.id);
  record["sequence"] = snapshot.sequence;
  record["time"] = snapshot.time;
  record["duration"] = snapshot.duration;
  record["is_incomplete"] = snapshot.is_incomplete;
  record["parent"] = sentence_text(snapshot.parent);
  record["host"] = system_text(snapshot.host);
  record["paths"] = system_texts(snapshot.paths);
  record["tags"] = system_texts(snapshot.tags);
  record["files"] = snapshot.files;
  record["folders"] = snapshot.folders;
  record["bytes"] = snapshot.bytes;
  record["new_raw_bytes"] = snapshot.new_raw_bytes;
  record["new_stored_bytes"] = snapshot.new_stored_bytes;
  record["original"] = sentence_text(snapshot.original);
  record["healed_chunks"] = snapshot.healed_chunks;
  return record;
}

nb::tuple record_of(const store_backup_progress& progress) {
  return nb::make_tuple(progress.files.added, progress.files.changed, progress.files.unchanged, progress.folders.added,
                        progress.folders.changed, progress.folders.unchanged, progress.bytes, progress.read_bytes,
                        progress.problems, progress.parent_files, progress.parent_bytes, system_text(progress.path));
}

nb::tuple record_of(const store_progress& progress) {
  return nb::make_tuple(progress.activity, progress.items, progress.total_items, progress.bytes, progress.total_bytes,
                        system_text(progress.name));
}

nb::tuple record_of(const stored_file& file) {
  return nb::make_tuple(system_text(file.path), to_string(file.kind), file.permissions, file.user_id, file.group_id,
                        file.size, file.modified.tv_sec, file.modified.tv_nsec, system_text(file.target),
                        file.changed.tv_sec, file.changed.tv_nsec, file.link_count, file.device, file.inode,
                        file.device_number, file.flags);
}

nb::dict ids_of(const id_pairs& ids) {
  nb::dict record;
  for (const auto& [first, second] : ids) record[sentence_text(first)] = sentence_text(second);
  return record;
}

nb::list records_of(const std::vector<noted_problem>& problems) {
  nb::list records;
  for (const noted_problem& each : problems) {
    records.append(nb::make_tuple(system_text(each.path), sentence_text(each.why.message()), to_string(each.why.code()),
                                  each.why.system_error() != 0 ? nb::cast(each.why.system_error()) : nb::none(),
                                  sentence_text(each.snapshot)));
  }
  return records;
}

}  // namespace cutpoint::python
