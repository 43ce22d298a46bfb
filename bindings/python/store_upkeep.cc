// The members of the store behind cutpoint.Store that compare, choose and copy snapshots, and that prune.
#include <array>
#include <chrono>

#include <cutpoint/store_diff.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings/python/input.h"
#include "bindings/python/progress.h"
#include "bindings/python/settings.h"
#include "bindings/python/store.h"
#include "bindings/python/store_records.h"

namespace cutpoint::python {

namespace {

/// The names of `store_change_kind`.
constexpr std::array change_names = {"added", "removed", "modified", "retyped", "metadata"};

/// Returns tags, each of which is a list of its own.
std::vector<std::vector<std::string>> lists_of(const object_list& tags) {
  std::vector<std::vector<std::string>> lists;
  for (std::string& each : texts_of(tags)) lists.push_back({std::move(each)});
  return lists;
}

auto note_copy_in(id_pairs& copies) {
  return [&copies](const store_snapshot& original, const store_snapshot& copy) {
    copies.emplace_back(original.id, copy.id);
  };
}

nb::dict record_of(const store_diff_side& counts) {
  nb::dict record;
  record["files"] = counts.files;
  record["folders"] = counts.folders;
  record["others"] = counts.others;
  record["bytes"] = counts.bytes;
  return record;
}

}  // namespace

nb::list open_store::apply_policy(const std::array<std::uint64_t, keep_period_count>& counts,
                                  const std::array<std::string, keep_period_count>& spans, const object_list& keep_tags,
                                  const object_list& hosts, const object_list& paths, const object_list& tags,
                                  bool uses_host, bool uses_paths, bool uses_tags) {
  snapshot_policy policy{.counts = counts, .tags = lists_of(keep_tags)};
  for (std::size_t period = 0; period < keep_period_count; ++period) {
    if (!spans[period].empty()) policy.spans[period] = value_or_raise(parse_calendar_span(spans[period]));
  }
  const snapshot_filter filter{.hosts = texts_of(hosts), .paths = texts_of(paths), .tags = lists_of(tags)};
  auto all = value_of(use([](backup_store& store, cancellation&) { return store.snapshots(); }));
  std::erase_if(all, [&](const store_snapshot& each) { return !filter.matches(each); });
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  nb::list decided;
  for (const snapshot_group& group :
       value_or_raise(cutpoint::apply_policy(all, policy, {uses_host, uses_paths, uses_tags}, now.count()))) {
    for (const snapshot_decision& each : group.decisions) {
      decided.append(nb::make_tuple(python::record_of(each.snapshot), system_texts(each.reasons)));
    }
  }
  return decided;
}

nb::dict open_store::diff(nb::handle before, nb::handle before_path, nb::handle after, nb::handle after_path,
                          bool compares_metadata) {
  std::vector<store_change> changes;
  std::vector<noted_problem> problems;
  store_diff_options options{.before = path_of(before),
                             .before_path = path_of(before_path),
                             .after = path_of(after),
                             .after_path = path_of(after_path),
                             .compares_metadata = compares_metadata,
                             .visit =
                                 [&](const store_change& change) {
                                   changes.push_back(change);
                                   return status();
                                 },
                             .problem = note_in(problems)};
  const auto compared = value_of(use([&](backup_store& store, cancellation& cancel) {
    options.cancel = &cancel;
    return store.diff(options);
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

nb::dict open_store::prune(double most_unused, std::optional<std::uint64_t> most_rewritten_bytes, bool is_dry_run,
                           std::uint64_t threads, const object_list& progress) {
  progress_caller caller(progress);
  store_prune_options options{.most_unused = most_unused, .is_dry_run = is_dry_run, .threads = threads};
  if (most_rewritten_bytes) options.most_rewritten_bytes = *most_rewritten_bytes;
  auto outcome = use([&](backup_store& store, cancellation& cancel) {
    options.progress = progress_of(caller, cancel);
    options.cancel = &cancel;
    return store.prune(options);
  });
  caller.raise_failure();
  const auto pruned = value_of(std::move(outcome));
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
  record["awaited"] = system_texts(pruned.awaited);
  return record;
}

nb::dict open_store::copy_snapshots(open_store& source, const object_list& ids, std::uint64_t threads,
                                    const lane_fields& lanes, std::optional<std::uint64_t> memory_bytes,
                                    const object_list& progress) {
  progress_caller caller(progress);
  if (&source == this) raise(PyExc_ValueError, "the source is the store that is copied into");
  const exclusive_use use_of_source(source.busy_);
  id_pairs copied, skipped;
  std::vector<noted_problem> problems;
  std::string device_warning;
  store_copy_options options{.snapshots = texts_of(ids),
                             .threads = threads,
                             .lanes = make_lanes(lanes),
                             .copied = note_copy_in(copied),
                             .skipped = note_copy_in(skipped),
                             .problem = note_in(problems),
                             .work = note_warning_in(device_warning)};
  if (memory_bytes) options.memory_bytes = *memory_bytes;
  auto outcome =
      use([&, &from = source.store()](backup_store& store, cancellation& cancel) -> result<store_copy_summary> {
        options.progress = progress_of(caller, cancel);
        options.cancel = &cancel;
        const auto engine = find_engine(threads);
        if (!engine) return engine.error();
        return store.copy_snapshots(**engine, from, options);
      });
  caller.raise_failure();
  const auto sum = value_of(std::move(outcome));
  nb::dict record;
  record["copied"] = ids_of(copied);
  record["skipped"] = ids_of(skipped);
  record["problems"] = records_of(problems);
  record["new_raw_bytes"] = sum.new_raw_bytes;
  record["new_stored_bytes"] = sum.new_stored_bytes;
  record["device_warning"] = device_warning;
  return record;
}

}  // namespace cutpoint::python
