// The functions of the interface for C that make, open and destroy stores, and that handle snapshots and keys.
#include "bindings/c/store.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <cutpoint/store_policy.h>

#include "bindings/c/engine.h"
#include "bindings/c/store_options.h"
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

namespace {

/// Shows the caller whether a snapshot is kept, and why.
status show_decision(cutpoint_store& store, const cutpoint_store_forget_options& options,
                     const cutpoint::snapshot_decision& decision) {
  if (options.decided == nullptr) return {};
  const cutpoint::embed::shown_snapshot made(decision.snapshot);
  const std::vector<const char*> reasons = cutpoint::embed::pointers_to(decision.reasons);
  return store.call("decided",
                    [&] { return options.decided(options.context, &made.shown(), reasons.data(), reasons.size()); });
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
    if (outcome given = expect_given(folder, "folder"); !given.ok()) return given;
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
    if (outcome given = expect_given(store, "store"); !given.ok()) return given;
    *store = nullptr;
    if (outcome given = expect_given(folder, "folder"); !given.ok()) return given;
    cutpoint::store_secret key;
    if (outcome done = read(secret, key); !done.ok()) return done;
    auto opened = backup_store::open(folder, key);
    if (!opened) return opened.error();
    *store = std::make_unique<cutpoint_store>(std::move(*opened)).release();
    return {};
  });
}

cutpoint_status cutpoint_store_destroy(cutpoint_store* store) {
  if (store == nullptr) return CUTPOINT_OK;
  if (const cutpoint_status entered = store->enter(nullptr); entered != CUTPOINT_OK) return entered;
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
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(engine, "engine"); !given.ok()) return given;
    cutpoint_store_backup_options raw = {};
    cutpoint::store_backup_options files;
    if (outcome done = read(options, raw, files); !done.ok()) return done;
    files.problem = store->reporter("problem", raw.problem, raw.context);
    files.cancel = store->cancellation();
    auto taken = opened.back_up(*engine->threads, files);
    if (!taken) return taken.error();
    store->keep(std::move(*taken), snapshot);
    return {};
  });
}

cutpoint_status cutpoint_store_snapshots(cutpoint_store* store, cutpoint_store_visit visit,
                                         cutpoint_store_problem problem, void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(visit, "visit"); !given.ok()) return given;
    auto all = opened.snapshots(store->reporter("problem", problem, context));
    if (!all) return all.error();
    for (cutpoint::store_snapshot& each : *all) {
      if (store->cancellation()->is_requested()) return cutpoint::stopped_as_asked();
      const cutpoint::embed::shown_snapshot made(std::move(each));
      if (status done = store->call("visit", [&] { return visit(context, &made.shown()); }); !done.ok()) return done;
    }
    return {};
  });
}

cutpoint_status cutpoint_store_find_snapshot(cutpoint_store* store, const char* id,
                                             const cutpoint_store_snapshot** snapshot, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(snapshot, "snapshot"); !given.ok()) return given;
    *snapshot = nullptr;
    if (outcome given = expect_given(id, "id"); !given.ok()) return given;
    auto found = opened.find_snapshot(id);
    if (!found) return found.error();
    store->keep(std::move(*found), snapshot);
    return {};
  });
}

cutpoint_status cutpoint_store_remove_snapshot(cutpoint_store* store, const char* id, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(id, "id"); !given.ok()) return given;
    return opened.remove_snapshot(id);
  });
}

cutpoint_status cutpoint_store_forget(cutpoint_store* store, const cutpoint_store_forget_options* options,
                                      cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    cutpoint_store_forget_options raw = {};
    cutpoint::embed::forget_rules rules;
    if (outcome done = read(options, raw, rules); !done.ok()) return done;
    auto all = opened.snapshots(store->reporter("problem", raw.problem, raw.context));
    if (!all) return all.error();
    std::erase_if(*all, [&](const cutpoint::store_snapshot& each) { return !rules.filter.matches(each); });
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    const auto groups = cutpoint::apply_policy(*all, rules.policy, rules.grouping, now.count());
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
    const auto done = opened.remove_snapshots(removed, note, store->cancellation());
    return done ? failure : done.error();
  });
}

cutpoint_status cutpoint_store_copy_snapshots(cutpoint_store* store, cutpoint_engine* engine, cutpoint_store* source,
                                              const cutpoint_store_copy_options* options,
                                              cutpoint_store_copy_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(engine, "engine"); !given.ok()) return given;
    if (outcome given = expect_given(source, "source"); !given.ok()) return given;
    if (source == store) return {CUTPOINT_INVALID_ARGUMENT, "source is the store that is copied into"};
    cutpoint_store_copy_options raw = {};
    cutpoint::store_copy_options asked;
    if (outcome done = read(options, raw, asked); !done.ok()) return done;
    asked.copied = copy_reporter(*store, "copied", raw.copied, raw.context);
    asked.skipped = copy_reporter(*store, "skipped", raw.skipped, raw.context);
    asked.problem = store->reporter("problem", raw.problem, raw.context);
    asked.cancel = store->cancellation();
    cutpoint_error failure = {};
    const cutpoint_status code = use(source, &failure, [&](backup_store& read_store) {
      return write_summary(opened.copy_snapshots(*engine->threads, read_store, asked), "store_copy_summary", summary);
    });
    outcome made(code, failure.message);
    made.system_error = failure.system_error;
    return made;
  });
}

cutpoint_status cutpoint_store_statistics(cutpoint_store* store, cutpoint_store_counts* counts, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(counts, "counts"); !given.ok()) return given;
    const auto counted = opened.statistics();
    if (!counted) return counted.error();
    return cutpoint::embed::write_structure(cutpoint::embed::shown(*counted), "store_counts", *counts);
  });
}

cutpoint_status cutpoint_store_keys(cutpoint_store* store,
                                    int (*visit)(void* context, const char* id, int kind, int is_used), void* context,
                                    cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(visit, "visit"); !given.ok()) return given;
    const auto keys = opened.keys();
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
  return use(store, error, [&](backup_store& opened) -> outcome {
    cutpoint::store_secret key;
    if (id == nullptr && capacity != 0) return {CUTPOINT_INVALID_ARGUMENT, "id is null, but its capacity is not 0"};
    if (outcome done = read(secret, key); !done.ok()) return done;
    const auto added = opened.add_key(key);
    if (!added) return added.error();
    return cutpoint::embed::write_text(*added, id, capacity, length);
  });
}

cutpoint_status cutpoint_store_remove_key(cutpoint_store* store, const char* id, cutpoint_error* error) {
  return use(store, error, [&](backup_store& opened) -> outcome {
    if (outcome given = expect_given(id, "id"); !given.ok()) return given;
    return opened.remove_key(id);
  });
}

}  // extern "C"
