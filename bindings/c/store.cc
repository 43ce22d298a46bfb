// The functions of the interface for C that make, open and destroy stores, and that handle snapshots and keys.
#include "bindings/c/store.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <cutpoint/store_policy.h>

#include "bindings/c/options.h"
#include "bindings/c/structures.h"

using cutpoint::backup_store;
using cutpoint::status;
using cutpoint::embed::expect_given;
using cutpoint::embed::guarded;
using cutpoint::embed::outcome;
using cutpoint::embed::read;
using cutpoint::embed::use;
using cutpoint::embed::write_summary;

cutpoint::store_problem cutpoint_store::reporter(std::string_view name, cutpoint_store_problem problem, void* context) {
  if (problem == nullptr) return {};
  return [this, name, problem, context](const std::string& path, const status& why) {
    report(name, [&] { return problem(context, path.c_str(), static_cast<int>(why.code()), why.message().c_str()); });
  };
}

std::function<void(const std::string& first, const std::string& second)> cutpoint_store::pair_reporter(
    std::string_view name, int (*receive)(void* context, const char* first, const char* second), void* context) {
  if (receive == nullptr) return {};
  return [this, name, receive, context](const std::string& first, const std::string& second) {
    report(name, [&] { return receive(context, first.c_str(), second.c_str()); });
  };
}

cutpoint::store_progress_function cutpoint_store::progress_reporter(
    int (*progress)(void* context, const cutpoint_store_progress* progress), void* context) {
  if (progress == nullptr) return {};
  return [this, progress, context](const cutpoint::store_progress& done) {
    const std::string activity(done.activity);
    cutpoint_store_progress record = {};
    record.struct_bytes = sizeof record;
    record.activity = activity.c_str();
    record.items = done.items;
    record.total_items = done.total_items;
    record.bytes = done.bytes;
    record.total_bytes = done.total_bytes;
    record.name = done.name.c_str();
    report("progress", [&] { return progress(context, &record); });
  };
}

cutpoint::store_work_function cutpoint_store::work_reporter(cutpoint_store_work work, void* context) {
  if (work == nullptr) return {};
  return [this, work, context](const cutpoint::store_work& done) {
    report("work", [&] { return cutpoint::embed::show(done, work, context); });
  };
}

namespace {

/// Shows the caller whether a snapshot is kept, and why.
status show_decision(cutpoint_store& store, const cutpoint_store_forget_options& options,
                     const cutpoint::snapshot_decision& decision) {
  if (options.decided == nullptr) return {};
  const cutpoint::embed::shown_snapshot snapshot(decision.snapshot);
  const std::vector<const char*> reasons = cutpoint::embed::pointers_to(decision.reasons);
  return store.call(
      "decided", [&] { return options.decided(options.context, &snapshot.shown(), reasons.data(), reasons.size()); });
}

/// Returns what passes copies to a function of the caller, which may be null.
std::function<void(const cutpoint::store_snapshot& original, const cutpoint::store_snapshot& copy)> copy_reporter(
    cutpoint_store& store, std::string_view name, cutpoint_store_copied copied, void* context) {
  if (copied == nullptr) return {};
  return
      [&store, name, copied, context](const cutpoint::store_snapshot& original, const cutpoint::store_snapshot& copy) {
        const cutpoint::embed::shown_snapshot shown_original(original), shown_copy(copy);
        store.report(name, [&] { return copied(context, &shown_original.shown(), &shown_copy.shown()); });
      };
}

}  // namespace

extern "C" {

cutpoint_status cutpoint_store_create(const char* folder, const cutpoint_store_settings* settings,
                                      const cutpoint_store_secret* secret, cutpoint_error* error) {
  return guarded(error, [&]() -> outcome {
    if (outcome check = expect_given(folder, "folder"); !check.ok()) return check;
    cutpoint::store_settings fixed;
    cutpoint::store_secret key;
    if (outcome done = read(settings, fixed); !done.ok()) return done;
    if (outcome done = read(secret, key); !done.ok()) return done;
    return backup_store::create(folder, fixed, key);
  });
}

cutpoint_status cutpoint_store_open(const char* folder, const cutpoint_store_secret* secret, cutpoint_store** store,
                                    cutpoint_error* error) {
  return guarded(error, [&]() -> outcome {
    if (outcome check = expect_given(store, "store"); !check.ok()) return check;
    *store = nullptr;
    if (outcome check = expect_given(folder, "folder"); !check.ok()) return check;
    cutpoint::store_secret key;
    if (outcome done = read(secret, key); !done.ok()) return done;
    auto backups = backup_store::open(folder, key);
    if (!backups) return backups.error();
    *store = std::make_unique<cutpoint_store>(std::move(*backups)).release();
    return {};
  });
}

cutpoint_status cutpoint_store_insecure_cuts(cutpoint_store* store, int (*visit)(void* context, const char* warning),
                                             void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    for (const std::string& each : backups.insecure_cuts()) {
      const auto show = [&] { return visit(context, each.c_str()); };
      if (status done = store->call("visit", show); !done.ok()) return done;
    }
    return {};
  });
}

cutpoint_status cutpoint_store_survives_power_cuts(cutpoint_store* store, int* survives, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(survives, "survives"); !check.ok()) return check;
    CUTPOINT_TRY(const bool answer, backups.survives_power_cuts());
    *survives = answer ? 1 : 0;
    return {};
  });
}

cutpoint_status cutpoint_store_destroy(cutpoint_store* store) {
  if (store == nullptr) return CUTPOINT_OK;
  if (const cutpoint_status entered = store->enter(nullptr); entered != CUTPOINT_OK) return entered;
  if (store->count_push_sessions(0) != 0) {
    store->leave();
    return CUTPOINT_WRONG_STATE;
  }
  delete store;
  return CUTPOINT_OK;
}

cutpoint_status cutpoint_store_cancel(cutpoint_store* store) {
  if (store == nullptr) return CUTPOINT_INVALID_ARGUMENT;
  store->cancel();
  return CUTPOINT_OK;
}

cutpoint_status cutpoint_store_back_up(cutpoint_store* store, cutpoint_engine* engine,
                                       const cutpoint_store_backup_options* options,
                                       const cutpoint_store_snapshot** snapshot, cutpoint_error* error) {
  if (snapshot != nullptr) *snapshot = nullptr;
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(engine, "engine"); !check.ok()) return check;
    cutpoint_store_backup_options raw = {};
    cutpoint::store_backup_options files;
    if (outcome done = read(options, raw, files); !done.ok()) return done;
    files.problem = store->reporter("problem", raw.problem, raw.context);
    files.warning = store->reporter("warning", raw.warning, raw.context);
    if (raw.progress != nullptr) {
      files.progress = [&](const cutpoint::store_backup_progress& progress) {
        const cutpoint_store_backup_progress record = cutpoint::embed::shown(progress);
        store->report("progress", [&] { return raw.progress(raw.context, &record); });
      };
    }
    files.work = store->work_reporter(raw.work, raw.context);
    files.cancel = store->cancellation();
    auto new_snapshot = backups.back_up(*engine->implementation, files);
    if (!new_snapshot) return new_snapshot.error();
    store->keep(std::move(*new_snapshot), snapshot);
    return {};
  });
}

cutpoint_status cutpoint_store_snapshots(cutpoint_store* store, cutpoint_store_visit visit,
                                         cutpoint_store_problem problem, void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    auto all = backups.snapshots(store->reporter("problem", problem, context));
    if (!all) return all.error();
    for (cutpoint::store_snapshot& each : *all) {
      if (store->cancellation()->is_requested()) return cutpoint::stopped_as_asked();
      const cutpoint::embed::shown_snapshot snapshot(std::move(each));
      if (status done = store->call("visit", [&] { return visit(context, &snapshot.shown()); }); !done.ok())
        return done;
    }
    return {};
  });
}

cutpoint_status cutpoint_store_find_snapshot(cutpoint_store* store, const char* id,
                                             const cutpoint_store_snapshot** snapshot, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(snapshot, "snapshot"); !check.ok()) return check;
    *snapshot = nullptr;
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    auto known_snapshot = backups.find_snapshot(id);
    if (!known_snapshot) return known_snapshot.error();
    store->keep(std::move(*known_snapshot), snapshot);
    return {};
  });
}

cutpoint_status cutpoint_store_remove_snapshot(cutpoint_store* store, const char* id, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    return backups.remove_snapshot(id);
  });
}

cutpoint_status cutpoint_store_remove_snapshots(cutpoint_store* store, const char* const* ids, uint64_t id_count,
                                                cutpoint_store_problem problem, void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    std::set<std::string> removed;
    if (outcome done = cutpoint::embed::read_ids("ids", ids, id_count, removed); !done.ok()) return done;
    const auto done =
        backups.remove_snapshots(removed, store->reporter("problem", problem, context), store->cancellation());
    return done ? outcome() : done.error();
  });
}

cutpoint_status cutpoint_store_change_tags(cutpoint_store* store, const cutpoint_store_tag_options* options,
                                           cutpoint_store_edit_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_tag_options raw = {};
    cutpoint::store_tag_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    library_options.edited = store->pair_reporter("edited", raw.edited, raw.context);
    library_options.problem = store->reporter("problem", raw.problem, raw.context);
    library_options.cancel = store->cancellation();
    return write_summary(backups.change_tags(library_options), "store_edit_summary", summary);
  });
}

cutpoint_status cutpoint_store_rewrite(cutpoint_store* store, const cutpoint_store_rewrite_options* options,
                                       cutpoint_store_edit_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_rewrite_options raw = {};
    cutpoint::store_rewrite_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    library_options.left_out = store->pair_reporter("left_out", raw.left_out, raw.context);
    library_options.edited = store->pair_reporter("edited", raw.edited, raw.context);
    library_options.problem = store->reporter("problem", raw.problem, raw.context);
    library_options.warning = store->reporter("warning", raw.warning, raw.context);
    library_options.cancel = store->cancellation();
    return write_summary(backups.rewrite(library_options), "store_edit_summary", summary);
  });
}

cutpoint_status cutpoint_store_forget(cutpoint_store* store, const cutpoint_store_forget_options* options,
                                      cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_forget_options raw = {};
    cutpoint::embed::forget_rules rules;
    if (outcome done = read(options, raw, rules); !done.ok()) return done;
    auto all = backups.snapshots(store->reporter("problem", raw.problem, raw.context));
    if (!all) return all.error();
    std::erase_if(*all, [&](const cutpoint::store_snapshot& each) { return !rules.filter.matches(each); });
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    const bool distrusts_times = (raw.flags & CUTPOINT_FORGET_DISTRUST_TIMES) != 0;
    const auto put_times = distrusts_times ? backups.put_times() : cutpoint::snapshot_put_times();
    if (!put_times) return put_times.error();
    const auto groups = cutpoint::apply_policy(*all, rules.policy, rules.grouping, now.count(),
                                               distrusts_times ? &*put_times : nullptr);
    if (!groups) return groups.error();
    std::set<std::string> removed;
    for (const cutpoint::snapshot_group& group : *groups) {
      for (const cutpoint::snapshot_decision& each : group.decisions) {
        if (status done = show_decision(*store, raw, each); !done.ok()) return done;
        if (!each.is_kept()) removed.insert(each.snapshot.id);
      }
    }
    if ((raw.flags & CUTPOINT_FORGET_REHEARSE) != 0) return {};
    status failure;
    const auto note = [&](const std::string&, const status& why) { failure = why; };
    const auto done = backups.remove_snapshots(removed, note, store->cancellation());
    return done ? failure : done.error();
  });
}

cutpoint_status cutpoint_store_copy_snapshots(cutpoint_store* store, cutpoint_engine* engine, cutpoint_store* source,
                                              const cutpoint_store_copy_options* options,
                                              cutpoint_store_copy_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(engine, "engine"); !check.ok()) return check;
    if (outcome check = expect_given(source, "source"); !check.ok()) return check;
    if (source == store) return {CUTPOINT_INVALID_ARGUMENT, "source is the store that is copied into"};
    cutpoint_store_copy_options raw = {};
    cutpoint::store_copy_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    library_options.copied = copy_reporter(*store, "copied", raw.copied, raw.context);
    library_options.skipped = copy_reporter(*store, "skipped", raw.skipped, raw.context);
    library_options.problem = store->reporter("problem", raw.problem, raw.context);
    library_options.progress = store->progress_reporter(raw.progress, raw.context);
    library_options.work = store->work_reporter(raw.work, raw.context);
    library_options.cancel = store->cancellation();
    cutpoint_error failure = {};
    const cutpoint_status code = use(source, &failure, [&](backup_store& read_store) {
      return write_summary(backups.copy_snapshots(*engine->implementation, read_store, library_options),
                           "store_copy_summary", summary);
    });
    outcome copying(code, failure.message);
    copying.system_error = failure.system_error;
    return copying;
  });
}

cutpoint_status cutpoint_store_statistics(cutpoint_store* store, cutpoint_store_counts* counts, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(counts, "counts"); !check.ok()) return check;
    const auto counted = backups.statistics();
    if (!counted) return counted.error();
    return cutpoint::embed::write_structure(cutpoint::embed::shown(*counted), "store_counts", *counts);
  });
}

cutpoint_status cutpoint_store_describe(cutpoint_store* store,
                                        int (*visit)(void* context, const cutpoint_store_description* description),
                                        void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    const cutpoint::store_settings& settings = backups.settings();
    const std::string fingerprint(cutpoint::name_of(settings.fingerprint)), identity = backups.identity();
    const auto log_number = backups.log_number();
    if (!log_number) return log_number.error();
    const cutpoint_store_description record = {
        sizeof record,
        settings.cuts.c_str(),
        fingerprint.c_str(),
        settings.compression_level,
        settings.container_bytes,
        settings.context.canonical().c_str(),
        backups.is_encrypted() ? std::uint64_t{CUTPOINT_DESCRIPTION_ENCRYPTED} : 0,
        identity.c_str(),
        *log_number};
    return store->call("visit", [&] { return visit(context, &record); });
  });
}

cutpoint_status cutpoint_store_sessions(cutpoint_store* store,
                                        int (*visit)(void* context, const char* id, const char* owner,
                                                     int64_t time_left),
                                        void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    const auto sessions = backups.sessions();
    if (!sessions) return sessions.error();
    for (const cutpoint::store_session& each : *sessions) {
      const auto show = [&] { return visit(context, each.id.c_str(), each.owner.c_str(), each.time_left); };
      if (status done = store->call("visit", show); !done.ok()) return done;
    }
    return {};
  });
}

cutpoint_status cutpoint_store_end_session(cutpoint_store* store, const char* id, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    return backups.end_session(id);
  });
}

cutpoint_status cutpoint_store_keys(cutpoint_store* store,
                                    int (*visit)(void* context, const char* id, int kind, int is_used), void* context,
                                    cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    const auto keys = backups.keys();
    if (!keys) return keys.error();
    for (const cutpoint::store_key& each : *keys) {
      const auto show = [&] { return visit(context, each.id.c_str(), static_cast<int>(each.kind), each.is_used); };
      if (status done = store->call("visit", show); !done.ok()) return done;
    }
    return {};
  });
}

cutpoint_status cutpoint_store_add_key(cutpoint_store* store, const cutpoint_store_secret* secret, char* id,
                                       size_t capacity, size_t* length, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint::store_secret key;
    if (id == nullptr && capacity != 0) return {CUTPOINT_INVALID_ARGUMENT, "id is null, but its capacity is not 0"};
    if (outcome done = read(secret, key); !done.ok()) return done;
    const auto added = backups.add_key(key);
    if (!added) return added.error();
    return cutpoint::embed::write_text(*added, id, capacity, length);
  });
}

cutpoint_status cutpoint_store_remove_key(cutpoint_store* store, const char* id, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    return backups.remove_key(id);
  });
}

}  // extern "C"
