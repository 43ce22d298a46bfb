#include "bindings/python/store.h"

#include <tuple>
#include <utility>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include "bindings/python/module.h"
#include "bindings/python/settings.h"

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

void create_store(nb::handle folder, const optional_secret& secret, const call_options& options) {
  const std::string path = path_of(folder), cuts = options.get<std::optional<std::string>>("cuts").value_or("");
  // Here, a key that is missing is no cause for a warning: the store sets it.
  const auto canonical = [&] {
    return make_settings(cuts, {}, "none", {}, "auto", nb::int_(1), {}).feed.cuts.canonical();
  };
  store_settings settings{.cuts = cuts.empty() ? cuts : canonical(),
                          .fingerprint = value_or_raise(parse_fingerprint(options.get<std::string>("fingerprint"))),
                          .compression_level = options.get<int>("compression_level"),
                          .container_bytes = options.get<std::uint32_t>("container_bytes"),
                          .accepts_insecure_cuts = options.get<bool>("insecure_cuts")};
  python::check(settings.use(value_or_raise(parse_context(options.get<std::string>("context")))), path);
  const store_secret key = secret_of(secret);
  process_cancellation cancel;
  python::check(interruptibly(cancel, duration::any, [&] { return backup_store::create(path, settings, key); }), path);
}

open_store::open_store(nb::handle folder, const optional_secret& secret) : folder_(path_of(folder)) {
  const store_secret key = secret_of(secret);
  process_cancellation cancel;
  store_ = value_of(interruptibly(cancel, duration::any, [&] { return backup_store::open(folder_, key); }));
}

nb::dict open_store::describe() {
  store_settings settings;
  std::string identity;
  bool is_encrypted = false;
  const auto log_number = value_of(use([&](backup_store& store, cancellation&) {
    settings = store.settings();
    identity = store.identity();
    is_encrypted = store.is_encrypted();
    return store.log_number();
  }));
  nb::dict record;
  record["cuts"] = settings.cuts;
  record["fingerprint"] = name_of(settings.fingerprint);
  record["compression_level"] = settings.compression_level;
  record["container_bytes"] = settings.container_bytes;
  record["context"] = settings.context.canonical();
  record["is_encrypted"] = is_encrypted;
  record["identity"] = identity;
  record["log_number"] = log_number;
  return record;
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

nb::dict open_store::back_up(const call_options& options) {
  std::vector<noted_problem> problems, warnings;
  std::string device_warning;
  walk_options walking{.exclude = options.patterns("exclude"),
                       .include = options.patterns("include"),
                       .one_file_system = options.get<bool>("one_file_system"),
                       .exclude_caches = options.get<bool>("exclude_caches")};
  store_backup_options files{.paths = options.texts("paths"),
                             .standard_input_name = options.text("standard_input_name"),
                             .walking = std::move(walking),
                             .host = options.text("host"),
                             .time = options.get<std::int64_t>("time"),
                             .tags = options.texts("tags"),
                             .parent = options.text("parent"),
                             .reads_everything = options.get<bool>("read_everything"),
                             .trusts_change_time = options.get<bool>("trust_change_time"),
                             .most_old_containers = options.get<std::uint64_t>("most_old_containers"),
                             .lanes = make_lanes(options.get<lane_fields>("lanes")),
                             .most_bytes_per_second = options.get<std::uint64_t>("most_bytes_per_second"),
                             .problem = note_in(problems),
                             .warning = note_in(warnings),
                             .is_dry_run = options.get<bool>("dry_run"),
                             .skips_unchanged = options.get<bool>("skip_unchanged"),
                             .work = note_warning_in(device_warning)};
  options.read("memory_bytes", files.memory_bytes);
  const thread_choice threads = options.threads();
  const auto run = [&](backup_store& store, cancellation&) -> result<store_snapshot> {
    const auto engine = find_engine(threads);
    if (!engine) return engine.error();
    return store.back_up(**engine, files);
  };
  nb::dict record = record_of(value_of(use(options, files, run)));
  record["problems"] = records_of(problems);
  record["warnings"] = records_of(warnings);
  record["device_warning"] = device_warning;
  return record;
}

std::shared_ptr<pushed_session> open_store::begin_push(nb::object self, const call_options& options) {
  const auto most_bytes_per_second = options.get<std::uint64_t>("most_bytes_per_second");
  store_push_options streams{.host = options.text("host"),
                             .paths = options.texts("paths"),
                             .tags = options.texts("tags"),
                             .time = options.get<std::int64_t>("time"),
                             .most_streams = options.get<std::uint64_t>("most_streams"),
                             .lanes = make_lanes(options.get<lane_fields>("lanes")),
                             .most_bytes_per_second = most_bytes_per_second};
  options.read("memory_bytes", streams.memory_bytes);
  const auto session = std::make_shared<pushed_session>(std::move(self), folder_, most_bytes_per_second != 0);
  const auto begin = [&, threads = options.threads()](backup_store& store, cancellation&) {
    return session->begin(store, threads, streams);
  };
  python::check(use(begin), folder_);
  std::erase_if(pushes_, [](const auto& each) { return each.expired(); });
  pushes_.push_back(session);
  return session;
}

nb::dict open_store::commit_push(pushed_session& session) {
  nb::dict record = record_of(value_of(use([&](backup_store&, cancellation&) { return session.commit(); })));
  record["problems"] = session.problems();
  record["device_warning"] = session.device_warning();
  return record;
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

void open_store::remove(const call_options& options) {
  const std::set<std::string> ids = options.ids("snapshots");
  status failure;
  const auto note = [&](const std::string&, const status& why) { failure = why; };
  const auto removed =
      use([&](backup_store& store, cancellation& cancel) { return store.remove_snapshots(ids, note, &cancel); });
  python::check(removed ? failure : removed.error(), folder_);
}

nb::dict open_store::restore(nb::handle id, const call_options& options) {
  std::vector<noted_problem> problems, warnings;
  progress_caller visitor(options["visit"]);
  const std::string text = path_of(id);
  store_restore_options files{.path = options.text("path"),
                              .target = options.text("target"),
                              .include = options.patterns("include"),
                              .exclude = options.patterns("exclude"),
                              .replaces_files = options.get<bool>("replace_files"),
                              .removes_others = options.get<bool>("remove_others"),
                              .is_dry_run = options.get<bool>("dry_run"),
                              .verifies = options.get<bool>("verify"),
                              .threads = options.get<std::uint64_t>("threads"),
                              .most_bytes_per_second = options.get<std::uint64_t>("most_bytes_per_second"),
                              .problem = note_in(problems),
                              .warning = note_in(warnings)};
  auto outcome = use(options, files, [&](backup_store& store, cancellation& cancel) {
    if (visitor.is_wanted()) {
      files.visit = [&](const std::string& path, store_restore_action action) {
        const char* const name = action == store_restore_action::removed ? "removed" : "restored";
        if (!visitor.call(true, [&] { return nb::make_tuple(system_text(path), name); })) cancel.request();
      };
    }
    return store.restore(text, files);
  });
  visitor.raise_failure();
  const auto restored = value_of(std::move(outcome));
  nb::dict record;
  record["files"] = restored.files;
  record["folders"] = restored.folders;
  record["bytes"] = restored.bytes;
  record["written_bytes"] = restored.written_bytes;
  record["read_containers"] = restored.read_containers;
  record["removed"] = restored.removed;
  record["copied_links"] = restored.copied_links;
  record["problems"] = records_of(problems);
  record["warnings"] = records_of(warnings);
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

nb::dict open_store::check(const call_options& options) {
  std::vector<noted_problem> objects, files;
  store_check_options data{.reads_data = options.get<bool>("read_data"),
                           .threads = options.get<std::uint64_t>("threads"),
                           .object_problem = note_in(objects),
                           .file_problem = note_file_in(files)};
  using subset = std::pair<std::uint64_t, std::uint64_t>;
  std::tie(data.subset.number, data.subset.subset_count) = options.get<subset>("subset");
  data.subset.share = options.get<double>("share");
  options.read("most_bytes", data.subset.most_bytes);
  const auto checked =
      value_of(use(options, data, [&](backup_store& store, cancellation&) { return store.check(data); }));
  nb::dict record;
  record["containers"] = checked.containers;
  record["records"] = checked.records;
  record["snapshots"] = checked.snapshots;
  record["moved_chunks"] = checked.moved_chunks;
  record["read_containers"] = checked.read_containers;
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

nb::list open_store::sessions() {
  nb::list records;
  for (const store_session& each : value_of(use([](backup_store&store, cancellation&) { return store.sessions(); }))) {
    records.append(nb::make_tuple(each.id, system_text(each.owner), each.time_left));
  }
  return records;
}

void open_store::end_session(const std::string& id) {
  python::check(use([&](backup_store& store, cancellation&) { return store.end_session(id); }), folder_);
}

bool open_store::survives_power_cuts() {
  return value_of(use([](backup_store& store, cancellation&) { return store.survives_power_cuts(); }));
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

void add_stores(nb::module_& m) {
  nb::class_<pushed_stream>(m, "PushedStream")
      .def("write", &pushed_stream::write)
      .def("write_hole", &pushed_stream::write_hole)
      .def("end", &pushed_stream::end)
      .def("fail", &pushed_stream::fail);
  nb::class_<pushed_session>(m, "PushedSession")
      .def("begin_stream", &pushed_session::begin_stream)
      .def("add", &pushed_session::add, nb::arg(), nb::arg().none(), nb::arg())
      .def("cancel", &pushed_session::cancel)
      .def("close", &pushed_session::close);

  m.def("create_store", &create_store);
  nb::class_<open_store>(m, "OpenStore")
      .def(nb::init<nb::handle, const optional_secret&>())
      .def("close", &open_store::close)
      .def("describe", &open_store::describe)
      .def("insecure_cuts", &open_store::insecure_cuts)
      .def("cancel", &open_store::cancel)
      .def("back_up", &open_store::back_up)
      .def("begin_push",
           [](nb::object self, const call_options& options) {
             return nb::cast<open_store&>(self).begin_push(self, options);
           })
      .def("commit_push", &open_store::commit_push)
      .def("snapshots", &open_store::snapshots)
      .def("find", &open_store::find)
      .def("remove", &open_store::remove)
      .def("change_tags", &open_store::change_tags)
      .def("rewrite", &open_store::rewrite)
      .def("restore", &open_store::restore)
      .def("files", &open_store::files)
      .def("read", &open_store::read)
      .def("check", &open_store::check)
      .def("repair", &open_store::repair)
      .def("statistics", &open_store::statistics)
      .def("apply_policy", &open_store::apply_policy)
      .def("diff", &open_store::diff)
      .def("prune", &open_store::prune)
      .def("copy_snapshots", &open_store::copy_snapshots)
      .def("sessions", &open_store::sessions)
      .def("end_session", &open_store::end_session)
      .def("survives_power_cuts", &open_store::survives_power_cuts)
      .def("keys", &open_store::keys)
      .def("add_key", &open_store::add_key)
      .def("remove_key", &open_store::remove_key);
}

}  // namespace cutpoint::python
