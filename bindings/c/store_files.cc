// The functions of the interface for C that read, compare, check, repair and prune what a store contains.
#include "bindings/c/store.h"
#include "bindings/c/structures.h"

using cutpoint::backup_store;
using cutpoint::status;
using cutpoint::embed::expect_given;
using cutpoint::embed::outcome;
using cutpoint::embed::read;
using cutpoint::embed::use;
using cutpoint::embed::write_summary;

namespace {

/// Returns what passes lost files to a function of the caller, which may be null.
std::function<void(const std::string& snapshot, const std::string& path, const status& why)> lost_file_reporter(
    cutpoint_store& store, std::string_view name, cutpoint_store_lost_file lost, void* context) {
  if (lost == nullptr) return {};
  return [&store, name, lost, context](const std::string& snapshot, const std::string& path, const status& why) {
    store.report(name, [&] {
      return lost(context, snapshot.c_str(), path.c_str(), static_cast<int>(why.code()), why.message().c_str());
    });
  };
}

}  // namespace

extern "C" {

cutpoint_status cutpoint_store_restore(cutpoint_store* store, const char* id,
                                       const cutpoint_store_restore_options* options,
                                       cutpoint_store_restore_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    cutpoint_store_restore_options raw = {};
    cutpoint::store_restore_options files;
    if (outcome done = read(options, raw, files); !done.ok()) return done;
    files.problem = store->reporter("problem", raw.problem, raw.context);
    files.warning = store->reporter("warning", raw.warning, raw.context);
    if (raw.visit != nullptr) {
      files.visit = [&](const std::string& path, cutpoint::store_restore_action action) {
        store->report("visit", [&] { return raw.visit(raw.context, path.c_str(), static_cast<int>(action)); });
      };
    }
    files.progress = store->progress_reporter(raw.progress, raw.context);
    files.cancel = store->cancellation();
    return write_summary(backups.restore(id, files), "store_restore_summary", summary);
  });
}

cutpoint_status cutpoint_store_list_files(cutpoint_store* store, const char* id, const char* path,
                                          int (*visit)(void* context, const cutpoint_stored_file* file), void* context,
                                          cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    if (outcome check = expect_given(visit, "visit"); !check.ok()) return check;
    return backups.list_files(id, path != nullptr ? path : "", [&](const cutpoint::stored_file& file) {
      const cutpoint_stored_file record = cutpoint::embed::shown(file);
      return store->call("visit", [&] { return visit(context, &record); });
    });
  });
}

cutpoint_status cutpoint_store_read_file(cutpoint_store* store, const char* id, const char* path, uint64_t begin,
                                         uint64_t end, int (*take)(void* context, const void* bytes, size_t byte_count),
                                         void* context, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    if (outcome check = expect_given(id, "id"); !check.ok()) return check;
    if (outcome check = expect_given(path, "path"); !check.ok()) return check;
    if (outcome check = expect_given(take, "take"); !check.ok()) return check;
    return backups.read_file(id, path, begin, end, [&](cutpoint::byte_span bytes) {
      return store->call("take", [&] { return take(context, bytes.data(), bytes.size()); });
    });
  });
}

cutpoint_status cutpoint_store_diff(cutpoint_store* store, const cutpoint_store_diff_options* options,
                                    cutpoint_store_diff_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_diff_options raw = {};
    cutpoint::store_diff_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    if (raw.visit != nullptr) {
      library_options.visit = [&](const cutpoint::store_change& change) {
        return store->call("visit", [&] {
          return raw.visit(raw.context, change.path.c_str(), static_cast<int>(change.which),
                           static_cast<int>(change.kind));
        });
      };
    }
    library_options.problem = store->reporter("problem", raw.problem, raw.context);
    library_options.cancel = store->cancellation();
    return write_summary(backups.diff(library_options), "store_diff_summary", summary);
  });
}

cutpoint_status cutpoint_store_check(cutpoint_store* store, const cutpoint_store_check_options* options,
                                     cutpoint_store_check_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_check_options raw = {};
    cutpoint::store_check_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    library_options.object_problem = store->reporter("object_problem", raw.object_problem, raw.context);
    library_options.file_problem = lost_file_reporter(*store, "file_problem", raw.file_problem, raw.context);
    library_options.progress = store->progress_reporter(raw.progress, raw.context);
    library_options.cancel = store->cancellation();
    return write_summary(backups.check(library_options), "store_check_summary", summary);
  });
}

cutpoint_status cutpoint_store_repair(cutpoint_store* store, const cutpoint_store_repair_options* options,
                                      cutpoint_store_repair_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_repair_options raw = {};
    cutpoint::store_repair_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    if (raw.damaged != nullptr) {
      library_options.damaged = [&](const std::string& object, const status& why, std::uint64_t saved) {
        store->report("damaged", [&] {
          return raw.damaged(raw.context, object.c_str(), static_cast<int>(why.code()), why.message().c_str(), saved);
        });
      };
    }
    library_options.replaced = store->pair_reporter("replaced", raw.replaced, raw.context);
    library_options.lost = lost_file_reporter(*store, "lost", raw.lost, raw.context);
    library_options.cancel = store->cancellation();
    return write_summary(backups.repair(library_options), "store_repair_summary", summary);
  });
}

cutpoint_status cutpoint_store_prune(cutpoint_store* store, const cutpoint_store_prune_options* options,
                                     cutpoint_store_prune_summary* summary, cutpoint_error* error) {
  return use(store, error, [&](backup_store& backups) -> outcome {
    cutpoint_store_prune_options raw = {};
    cutpoint::store_prune_options library_options;
    if (outcome done = read(options, raw, library_options); !done.ok()) return done;
    library_options.damaged = store->reporter("damaged", raw.damaged, raw.context);
    library_options.progress = store->progress_reporter(raw.progress, raw.context);
    library_options.cancel = store->cancellation();
    const auto pruned = backups.prune(library_options);
    if (pruned && raw.awaited != nullptr) {
      for (const std::string& each : pruned->awaited) {
        const auto show = [&] { return raw.awaited(raw.context, each.c_str()); };
        if (status done = store->call("awaited", show); !done.ok()) return done;
      }
    }
    return write_summary(pruned, "store_prune_summary", summary);
  });
}

}  // extern "C"
