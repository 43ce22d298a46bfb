#include "bindings/python/store.h"

#include <set>
#include <utility>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings/python/input.h"
#include "bindings/python/progress.h"
#include "bindings/python/settings.h"
#include "bindings/python/store_records.h"

namespace cutpoint::python {

namespace {

/// Reads of at most this many bytes are done on the calling thread.
constexpr std::uint64_t short_read_bytes = 1 * MiB;

store_secret secret_of(const optional_secret& secret) {
  if (!secret) return {};
  const auto& [kind, bytes] = *secret;
  return {kind == "password" ? store_secret::kind::password : store_secret::kind::key_file,
          {bytes.c_str(), bytes.size()}};
}

auto note_file_in(std::vector<noted_problem>& problems) {
  return [&problems](const std::string& snapshot, const std::string& path, const status& why) {
    problems.push_back({path, why, snapshot});
  };
}

}  // namespace

void create_store(nb::handle folder, const optional_secret& secret, const std::string& cuts,
                  const std::string& fingerprint, int compression_level, std::uint32_t container_bytes,
                  const std::string& context, bool accepts_insecure_cuts) {
  const std::string path = path_of(folder);
  // Here, a key that is missing is no cause for a warning: the store sets it.
  const auto canonical = [&] { return make_settings(cuts, {}, "none", {}, "auto", 1, {}).feed.cuts.canonical(); };
  store_settings settings{.cuts = cuts.empty() ? cuts : canonical(),
                          .fingerprint = value_or_raise(parse_fingerprint(fingerprint)),
                          .compression_level = compression_level,
                          .container_bytes = container_bytes,
                          .accepts_insecure_cuts = accepts_insecure_cuts};
  python::check(settings.use(value_or_raise(parse_context(context))), path);
  const store_secret key = secret_of(secret);
  process_cancellation cancel;
  python::check(interruptibly(cancel, duration::any, [&] { return backup_store::create(path, settings, key); }), path);
}

open_store::open_store(nb::handle folder, const optional_secret& secret) : folder_(path_of(folder)) {
  const store_secret key = secret_of(secret);
  process_cancellation cancel;
  store_ = value_of(interruptibly(cancel, duration::any, [&] { return backup_store::open(folder_, key); }));
}

std::vector<std::string> open_store::insecure_cuts() {
  const exclusive_use use(busy_);
  return store_ ? store_->insecure_cuts() : std::vector<std::string>();
}

void open_store::close() {
  const exclusive_use use(busy_);
  for (const auto& each : pushes_) {
    if (const auto session = each.lock()) session->close();
  }
  pushes_.clear();
  store_.reset();
}

void open_store::cancel() {
  const std::lock_guard lock(running_mutex_);
  if (running_ != nullptr) running_->request();
}

nb::tuple open_store::back_up(const object_list& paths, nb::handle host, const object_list& tags, std::int64_t time,
                              nb::handle parent, bool reads_everything, const object_list& exclude,
                              const object_list& include, bool one_file_system, bool exclude_caches,
                              nb::handle standard_input_name, std::uint64_t most_old_containers, std::uint64_t threads,
                              const lane_fields& lanes, std::optional<std::uint64_t> memory_bytes,
                              std::uint64_t most_bytes_per_second, const object_list& progress) {
  std::vector<noted_problem> problems;
  std::string device_warning;
  progress_caller caller(progress);
  store_backup_options options{.paths = texts_of(paths),
                               .standard_input_name = path_of(standard_input_name),
                               .walking = {.exclude = make_patterns(exclude),
                                           .include = make_patterns(include),
                                           .one_file_system = one_file_system,
                                           .exclude_caches = exclude_caches},
                               .host = path_of(host),
                               .time = time,
                               .tags = texts_of(tags),
                               .parent = path_of(parent),
                               .reads_everything = reads_everything,
                               .most_old_containers = most_old_containers,
                               .lanes = make_lanes(lanes),
                               .problem = note_in(problems),
                               .work = note_warning_in(device_warning)};
  if (memory_bytes) options.memory_bytes = *memory_bytes;
  options.most_bytes_per_second = most_bytes_per_second;
  auto snapshot = use([&](backup_store& store, cancellation& cancel) -> result<store_snapshot> {
    options.cancel = &cancel;
    if (caller.is_wanted()) {
      options.progress = [&](const store_backup_progress& done) {
        if (!caller.call(done.path.empty(), [&] { return record_of(done); })) cancel.request();
      };
    }
    const auto engine = find_engine(threads);
    if (!engine) return engine.error();
    return store.back_up(**engine, options);
  });
  caller.raise_failure();
  return nb::make_tuple(record_of(value_of(std::move(snapshot))), records_of(problems), device_warning);
}

std::shared_ptr<pushed_session> open_store::begin_push(nb::object self, nb::handle host, const object_list& paths,
                                                       const object_list& tags, std::int64_t time,
                                                       std::uint64_t most_streams, std::uint64_t threads,
                                                       const lane_fields& lanes,
                                                       std::optional<std::uint64_t> memory_bytes,
                                                       std::uint64_t most_bytes_per_second) {
  store_push_options options{.host = path_of(host),
                             .paths = texts_of(paths),
                             .tags = texts_of(tags),
                             .time = time,
                             .most_streams = most_streams,
                             .lanes = make_lanes(lanes),
                             .most_bytes_per_second = most_bytes_per_second};
  if (memory_bytes) options.memory_bytes = *memory_bytes;
  const auto session = std::make_shared<pushed_session>(std::move(self), folder_, most_bytes_per_second != 0);
  python::check(use([&](backup_store& store, cancellation&) { return session->begin(store, threads, options); }),
                folder_);
  std::erase_if(pushes_, [](const auto& each) { return each.expired(); });
  pushes_.push_back(session);
  return session;
}

nb::tuple open_store::commit_push(pushed_session& session) {
  const auto snapshot = value_of(use([&](backup_store&, cancellation&) { return session.commit(); }));
  return nb::make_tuple(record_of(snapshot), session.problems(), session.device_warning());
}

nb::list open_store::snapshots() {
  nb::list records;
  for (const store_snapshot& each :
       value_of(use([](backup_store&store, cancellation&) { return store.snapshots(); }))) {
    records.append(record_of(each));
  }
  return records;
}

nb::dict open_store::find(nb::handle id) {
  const std::string text = path_of(id);
  return record_of(value_of(use([&](backup_store& store, cancellation&) { return store.find_snapshot(text); })));
}

void open_store::remove(const object_list& ids) {
  std::set<std::string> texts;
  for (std::string& each : texts_of(ids)) texts.insert(std::move(each));
  status failure;
  const auto note = [&](const std::string&, const status& why) { failure = why; };
  const auto removed =
      use([&](backup_store& store, cancellation& cancel) { return store.remove_snapshots(texts, note, &cancel); });
  python::check(removed ? failure : removed.error(), folder_);
}

nb::dict open_store::restore(nb::handle id, nb::handle target, nb::handle path, const object_list& include,
                             const object_list& exclude, bool replaces_files, bool removes_others, bool is_dry_run,
                             bool verifies, std::uint64_t threads, std::uint64_t most_bytes_per_second,
                             const object_list& progress) {
  std::vector<noted_problem> problems;
  progress_caller caller(progress);
  const std::string text = path_of(id);
  store_restore_options options{.path = path_of(path),
                                .target = path_of(target),
                                .include = make_patterns(include),
                                .exclude = make_patterns(exclude),
                                .replaces_files = replaces_files,
                                .removes_others = removes_others,
                                .is_dry_run = is_dry_run,
                                .verifies = verifies,
                                .threads = threads,
                                .most_bytes_per_second = most_bytes_per_second,
                                .problem = note_in(problems)};
  auto outcome = use([&](backup_store& store, cancellation& cancel) {
    options.progress = progress_of(caller, cancel);
    options.cancel = &cancel;
    return store.restore(text, options);
  });
  caller.raise_failure();
  const auto restored = value_of(std::move(outcome));
  nb::dict record;
  record["files"] = restored.files;
  record["folders"] = restored.folders;
  record["bytes"] = restored.bytes;
  record["written_bytes"] = restored.written_bytes;
  record["read_containers"] = restored.read_containers;
  record["removed"] = restored.removed;
  record["problems"] = records_of(problems);
  return record;
}

nb::list open_store::files(nb::handle id, nb::handle path) {
  const std::string text = path_of(id), top = path_of(path);
  std::vector<stored_file> files;
  python::check(use([&](backup_store& store, cancellation& cancel) {
                  return store.list_files(text, top, [&](const stored_file& file) {
                    files.push_back(file);
                    return cancel.is_requested() ? stopped_as_asked() : status();
                  });
                }),
                folder_);
  nb::list records;
  for (const stored_file& each : files) records.append(record_of(each));
  return records;
}

nb::bytes open_store::read(nb::handle id, nb::handle path, std::uint64_t begin, std::uint64_t end) {
  const std::string text = path_of(id), file = path_of(path);
  std::string content;
  const bool is_short = end <= begin || end - begin <= short_read_bytes;
  const auto append = [&](backup_store& store, cancellation& cancel) {
    return store.read_file(text, file, begin, end, [&](byte_span bytes) {
      content.append(bytes.begin(), bytes.end());
      return cancel.is_requested() ? stopped_as_asked() : status();
    });
  };
  python::check(use(append, is_short ? duration::shorter_than_signal_period : duration::any), folder_);
  return nb::bytes(content.data(), content.size());
}

nb::dict open_store::check(bool reads_data, std::uint64_t threads, const object_list& progress) {
  progress_caller caller(progress);
  std::vector<noted_problem> objects, files;
  store_check_options options{.reads_data = reads_data,
                              .threads = threads,
                              .object_problem = note_in(objects),
                              .file_problem = note_file_in(files)};
  auto outcome = use([&](backup_store& store, cancellation& cancel) {
    options.progress = progress_of(caller, cancel);
    options.cancel = &cancel;
    return store.check(options);
  });
  caller.raise_failure();
  const auto checked = value_of(std::move(outcome));
  nb::dict record;
  record["containers"] = checked.containers;
  record["records"] = checked.records;
  record["snapshots"] = checked.snapshots;
  record["object_problems"] = records_of(objects);
  record["file_problems"] = records_of(files);
  return record;
}

nb::dict open_store::repair(std::uint64_t threads) {
  std::vector<noted_problem> damaged, lost;
  id_pairs replaced;
  store_repair_options options{
      .threads = threads,
      .damaged =
          [&](const std::string& object, const status& why, std::uint64_t) {
            damaged.push_back({object, why});
          },
      .lost = note_file_in(lost),
      .replaced = [&](const std::string& before, const std::string& after) { replaced.emplace_back(before, after); }};
  auto repaired = use([&](backup_store& store, cancellation& cancel) {
    options.cancel = &cancel;
    return store.repair(options);
  });
  nb::dict record;
  record["saved_records"] = value_of(std::move(repaired)).saved_records;
  record["damaged"] = records_of(damaged);
  record["lost"] = records_of(lost);
  record["replaced"] = ids_of(replaced);
  return record;
}

nb::dict open_store::statistics() {
  const auto counted = value_of(use([](backup_store& store, cancellation&) { return store.statistics(); }));
  nb::dict record;
  record["snapshots"] = counted.snapshots;
  record["containers"] = counted.containers;
  record["container_bytes"] = counted.container_bytes;
  record["records"] = counted.records;
  record["shards"] = counted.shards;
  record["shard_bytes"] = counted.shard_bytes;
  return record;
}

nb::list open_store::keys() {
  nb::list records;
  for (const store_key& each : value_of(use([](backup_store&store, cancellation&) { return store.keys(); }))) {
    const bool is_password = each.kind == store_secret::kind::password;
    records.append(nb::make_tuple(each.id, is_password ? "password" : "key file", each.is_used));
  }
  return records;
}

std::string open_store::add_key(const optional_secret& secret) {
  const store_secret key = secret_of(secret);
  return value_of(use([&](backup_store& store, cancellation&) { return store.add_key(key); }));
}

void open_store::remove_key(const std::string& id) {
  python::check(use([&](backup_store& store, cancellation&) { return store.remove_key(id); }), folder_);
}

}  // namespace cutpoint::python
