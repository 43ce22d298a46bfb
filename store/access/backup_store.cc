// The public class of a store.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/store.h>
#include <cutpoint/store_diff.h>
#include <cutpoint/store_report.h>
#include <fmt/format.h>

#include "store/access/commit.h"
#include "store/access/held_session.h"
#include "store/access/open_store.h"
#include "store/copy/snapshot_copier.h"
#include "store/diff/diff.h"
#include "store/files/backup.h"
#include "store/files/check.h"
#include "store/files/dump.h"
#include "store/files/list.h"
#include "store/files/repair.h"
#include "store/files/restore.h"
#include "store/format/failure.h"
#include "store/objects/lease.h"
#include "store/prune/prune.h"
#include "store/prune/removal.h"
#include "store/report/store_report.h"
#include "store/session/record_reader.h"
#include "store/session/write_session.h"
#include "store/storage/directory_storage.h"
#include "store/storage/file_system.h"

namespace cutpoint {

namespace {

/// About 64 KiB, chosen in docs/choosing.md.
constexpr std::string_view default_cuts = "fastcdc(min_bytes=16384,avg_bytes=65536,max_bytes=262144)";
constexpr std::string_view default_keyed_cuts = "borg2-fastcdc(min_exp=14,max_exp=18,mask_bits=16,normalization=2)";

std::optional<store::key_secret> secret_of(const store_secret& given) {
  if (given.which == store_secret::kind::none) return std::nullopt;
  const bool is_password = given.which == store_secret::kind::password;
  return store::key_secret{is_password ? store::secret_kind::password : store::secret_kind::key_file, given.bytes};
}

/// Puts the name of the store before a message that names an object of it.
status in_folder(const std::string& folder, const status& why) {
  return {why.code(), folder + ": " + why.message(), why.system_error()};
}

result<store::storage_opener> opener_of(const std::string& folder) {
  auto files = store::open_file_system(folder);
  if (!files) return files.error();
  return store::storage_opener([files = std::shared_ptr<store::file_system>(std::move(*files))](
                                   const std::string& writer_id, std::size_t pending_objects) {
    return store::open_directory_storage(files, {.writer_id = writer_id, .pending_objects = pending_objects});
  });
}

store_snapshot snapshot_of(std::string id, const store::snapshot& taken) {
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

stored_file file_of(std::string path, const store::folder_entry& entry) {
  return {.path = std::move(path),
          .kind = entry.kind,
          .permissions = entry.permissions,
          .user_id = entry.user_id,
          .group_id = entry.group_id,
          .size = entry.size,
          .modified = entry.modified,
          .target = entry.target};
}

status check_bounds(const store_settings& settings) {
  const auto check = [](std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) -> status {
    if (value >= least && value <= most) return {};
    return {status_code::invalid_argument, fmt::format("{} = {} must be from {} to {}", name, value, least, most)};
  };
  if (status level = check("compression_level", settings.compression_level, 0, store::highest_level); !level.ok()) {
    return level;
  }
  if (status bytes =
          check("container_bytes", settings.container_bytes, store::least_container_bytes, store::most_container_bytes);
      !bytes.ok()) {
    return bytes;
  }
  const auto& kind = fingerprints()[static_cast<std::size_t>(settings.fingerprint)];
  if (settings.is_for_experiments || kind.resists_collisions) return {};
  return {status_code::invalid_argument,
          fmt::format("{}: collisions can be made on purpose, so a store does not trust it", kind.name)};
}

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

struct backup_store::implementation {
  std::string folder;
  std::unique_ptr<store::open_store> opened;
  store_settings settings;

  [[nodiscard]] status named(const status& why) const { return in_folder(folder, why); }
  [[nodiscard]] result<store_snapshot> back_up(engine& threads, const store_backup_options& options);
  [[nodiscard]] result<store::open_store::listed_snapshot> write(engine& threads, const store::backup_options& files,
                                                                 std::uint64_t most_old_containers,
                                                                 store::snapshot facts, store::held_session& session);
  void merge_shards();
  [[nodiscard]] result<store::snapshot> read(const std::string& id);
  [[nodiscard]] result<std::optional<store::open_store::listed_snapshot>> parent_of(
      const store_backup_options& options, const std::vector<std::string>& paths);
  [[nodiscard]] result<store::record_reader> reader() {
    auto check = store::record_fingerprinter::fastest(opened->fingerprint());
    if (!check) return check.error();
    return store::record_reader(opened->objects(), opened->key(), opened->shards(), std::move(*check));
  }
};

status backup_store::create(const std::string& folder, const store_settings& settings, const store_secret& secret) {
  if (status checked = check_bounds(settings); !checked.ok()) return checked;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return {status_code::io_error, folder + ": " + failed.message(), failed.value()};
  auto files = store::open_file_system(folder);
  if (!files) return files.error();
  const std::shared_ptr<store::file_system> shared = std::move(*files);
  const auto given = secret_of(secret);
  const bool compresses = settings.compression_level != 0;
  store::store_config config{.fingerprint = settings.fingerprint,
                             .codec = compresses ? store::record_codec::zstd : store::record_codec::none,
                             .level = static_cast<std::uint8_t>(settings.compression_level),
                             .container_bytes = settings.container_bytes,
                             .cuts = settings.cuts};
  if (config.cuts.empty()) config.cuts = given ? default_keyed_cuts : default_cuts;
  if (status made = store::make_storage_folders(*shared); !made.ok()) return in_folder(folder, made);
  const auto objects =
      store::open_directory_storage(shared, {.writer_id = store::new_session_id(), .pending_objects = 0});
  const status made = store::make_store(*objects, config, given);
  if (store::is_presence(made)) return {status_code::io_error, folder + ": a store is there already", EEXIST};
  return made.ok() ? made : in_folder(folder, made);
}

result<backup_store> backup_store::open(const std::string& folder, const store_secret& secret) {
  auto opener = opener_of(folder);
  if (!opener) return opener.error();
  auto opened = store::open_store::open(std::move(*opener), secret_of(secret));
  if (!opened) return in_folder(folder, opened.error());
  auto held = std::make_unique<implementation>();
  held->folder = folder;
  const store::store_config& config = (*opened)->config();
  held->settings = {.cuts = config.cuts,
                    .fingerprint = config.fingerprint,
                    .compression_level = config.level,
                    .container_bytes = config.container_bytes};
  held->opened = std::move(*opened);
  return backup_store(std::move(held));
}

backup_store::backup_store(std::unique_ptr<implementation> held) noexcept : held_(std::move(held)) {}
backup_store::backup_store(backup_store&&) noexcept = default;
backup_store& backup_store::operator=(backup_store&&) noexcept = default;
backup_store::~backup_store() = default;

store::open_store& backup_store::opened() noexcept { return *held_->opened; }
const store_settings& backup_store::settings() const noexcept { return held_->settings; }
bool backup_store::is_encrypted() const noexcept {
  return held_->opened->config().encryption == store::seal_kind::aes_256_gcm;
}

result<store_snapshot> backup_store::back_up(engine& threads, const store_backup_options& options) {
  return held_->back_up(threads, options);
}

/// Reads a snapshot by its whole id. Errors: invalid_argument, if no snapshot has it; those of `open_store::read`.
result<store::snapshot> backup_store::implementation::read(const std::string& id) {
  const status unknown(status_code::invalid_argument, fmt::format("{}: no snapshot has the id {}", folder, id));
  if (!store::is_valid_id(id)) return unknown;  // it could name another object
  auto taken = opened->read(id);
  if (taken) return taken;
  return store::is_absence(taken.error()) ? unknown : named(taken.error());
}

/// The newest snapshot with the same host and paths, or the one that was asked for; nullopt without one.
result<std::optional<store::open_store::listed_snapshot>> backup_store::implementation::parent_of(
    const store_backup_options& options, const std::vector<std::string>& paths) {
  std::optional<store::open_store::listed_snapshot> newest;
  if (options.reads_everything) return newest;
  if (!options.parent.empty()) {
    auto asked = read(options.parent);
    if (!asked) return asked.error();
    return std::optional(store::open_store::listed_snapshot{options.parent, std::move(*asked)});
  }
  auto all = opened->snapshots({});
  if (!all) return named(all.error());
  for (auto& each : *all) {
    if (each.taken.host == options.host && each.taken.paths == paths) newest = std::move(each);
  }
  return newest;
}

result<store_snapshot> backup_store::implementation::back_up(engine& threads, const store_backup_options& options) {
  feed_options feed{.cuts = opened->cuts(), .fingerprint = opened->fingerprint()};
  feed.memory_bytes = options.memory_bytes;
  if (options.most_old_containers != 0) feed.segment_bytes = store::container_cap::segment_bytes;
  feed.cancel = options.cancel;
  store::backup_options files{.paths = options.paths,
                              .standard_input_name = options.standard_input_name,
                              .walking = options.walking,
                              .feed = std::move(feed),
                              .access = options.access,
                              .problem = options.problem,
                              .cancel = options.cancel};
  const auto paths = store::stored_paths(files);
  if (!paths) return paths.error();
  const auto session = store::held_session::begin(*opened);
  if (!session) return named(session.error());
  // A parent that was found before the session might lose its data to a prune that does not know of the session.
  const auto parent = parent_of(options, *paths);
  if (!parent) return parent.error();
  if (*parent) files.parent = (*parent)->taken.root;
  store::snapshot facts;
  facts.time = options.time != 0 ? options.time : nanoseconds_now();
  if (*parent) facts.parent = (*parent)->id;
  facts.host = options.host;
  facts.tags = options.tags;
  facts.session = (*session)->id();
  auto committed = write(threads, files, options.most_old_containers, std::move(facts), **session);
  if (!committed) return committed.error();
  merge_shards();
  return snapshot_of(std::move(committed->id), committed->taken);
}

/// Writes what is new of the files, and commits. `facts` is what is known of the snapshot before.
result<store::open_store::listed_snapshot> backup_store::implementation::write(engine& threads,
                                                                               const store::backup_options& files,
                                                                               std::uint64_t most_old_containers,
                                                                               store::snapshot facts,
                                                                               store::held_session& session) {
  const auto begin = std::chrono::steady_clock::now();
  store::storage& objects = session.objects();
  auto names = fingerprints_on(fingerprint_kind::blake3, backend::automatic);
  if (!names) return names.error();
  auto nodes = store::record_fingerprinter::fastest(opened->fingerprint());
  if (!nodes) return nodes.error();
  auto shards = session.open_shards();
  if (!shards) return named(shards.error());
  auto parent_shards = session.open_shards();  // an index is used by one thread
  if (!parent_shards) return named(parent_shards.error());
  store::record_writer records(objects, opened->key(), opened->config().container_bytes, std::move(names->batch));
  store::write_session writer(opened->config(), *shards, records, std::move(*nodes));
  if (most_old_containers != 0) writer.cap_containers(most_old_containers, objects, opened->key());
  const auto stored = store::backup_files(threads, writer, opened->reading(*parent_shards), files);
  if (!stored) return stored.error();
  if (status finished = writer.finish(); !finished.ok()) return named(finished);
  if (files.cancel != nullptr && files.cancel->is_requested()) return stopped_as_asked();
  facts.root = stored->root;
  facts.is_incomplete = stored->problems != 0;
  facts.paths = stored->paths;
  facts.statistics = {.files = stored->files,
                      .folders = stored->folders,
                      .bytes = stored->bytes,
                      .new_raw_bytes = records.raw_bytes(),
                      .new_stored_bytes = records.stored_bytes()};
  facts.duration =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  auto committed = store::commit_snapshot(*opened, objects, session.lease(), std::move(facts));
  return committed ? std::move(committed) : named(committed.error());
}

/// Merges shards, so that few are looked up. A failure costs speed alone: the next backup merges them.
void backup_store::implementation::merge_shards() try {
  if (!opened->reopen_shards().ok()) return;
  for (;;) {
    const auto merged = opened->shards().merge([](const store::container_name&) { return true; });
    if (!merged || !*merged) return;
  }
} catch (const std::bad_alloc&) {  // a failure like the others
}

result<store_copy_summary> backup_store::copy_snapshots(engine& threads, backup_store& source,
                                                        const store_copy_options& options) {
  store_copy_summary sum;
  const auto report = [&](const std::string& snapshot, const status& why) {
    ++sum.problems;
    if (options.problem) options.problem(snapshot, why);
  };
  store::snapshot_copier copier(
      threads, source.opened(), opened(),
      {.threads = options.threads, .memory_bytes = options.memory_bytes, .cancel = options.cancel});
  if (status begun = copier.begin(report); !begun.ok()) return begun;
  for (const std::string& id : options.snapshots) {
    if (const auto found = source.held_->read(id); !found) return found.error();
  }
  for (const auto& original : copier.originals()) {
    if (!options.snapshots.empty() && std::ranges::count(options.snapshots, original.id) == 0) continue;
    if (const auto* const there = copier.find_copy(original.taken)) {
      ++sum.skipped;
      if (options.skipped)
        options.skipped(snapshot_of(original.id, original.taken), snapshot_of(there->id, there->taken));
      continue;
    }
    status source_failure;
    const auto copy = copier.copy(original, source_failure);
    if (!copy && source_failure.ok()) return held_->named(copy.error());
    if (!copy) {
      report(original.id, source_failure);
      continue;
    }
    ++sum.copied;
    sum.new_raw_bytes += copy->taken.statistics.new_raw_bytes;
    sum.new_stored_bytes += copy->taken.statistics.new_stored_bytes;
    if (options.copied) options.copied(snapshot_of(original.id, original.taken), snapshot_of(copy->id, copy->taken));
  }
  if (sum.copied != 0) held_->merge_shards();
  return sum;
}

result<std::vector<store_snapshot>> backup_store::snapshots(const store_problem& problem) {
  const auto all = held_->opened->snapshots(problem);
  if (!all) return held_->named(all.error());
  std::vector<store_snapshot> found;
  for (const auto& each : *all) found.push_back(snapshot_of(each.id, each.taken));
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

status backup_store::remove_snapshot(const std::string& id) {
  // A snapshot that is damaged can be removed.
  if (const auto taken = held_->read(id); !taken && taken.error().code() == status_code::invalid_argument) {
    return taken.error();
  }
  store::storage& objects = held_->opened->objects();
  if (status removed = objects.remove({store::object_kind::snapshot, id}); !removed.ok()) return held_->named(removed);
  const status synced = objects.sync();
  return synced.ok() ? synced : held_->named(synced);
}

result<store_prune_summary> backup_store::prune(const store_prune_options& options) {
  if (!(options.most_unused >= 0 && options.most_unused <= 1)) {
    return status(status_code::invalid_argument,
                  fmt::format("most_unused = {} must be from 0 to 1", options.most_unused));
  }
  auto done = store::prune_store(*held_->opened, options);
  return done ? std::move(done) : held_->named(done.error());
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
  return store::visit_tree(
      *found, std::string(path), *nodes,
      [&](const std::string& below, const store::folder_entry& entry) { return visit(file_of(below, entry)); });
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

result<std::vector<store_key>> backup_store::keys() {
  const auto& used = held_->opened->opened_by();
  if (!used)
    return status(status_code::invalid_argument, held_->folder + ": the store is not encrypted: it has no keys");
  const auto ids = held_->opened->objects().list(store::object_kind::key);
  if (!ids) return held_->named(ids.error());
  std::vector<store_key> found;
  for (const std::string& id : *ids) {
    const auto kind = store::kind_of_key(held_->opened->objects(), id);
    if (!kind) return held_->named(kind.error());
    const bool is_password = *kind == store::secret_kind::password;
    found.push_back({id, is_password ? store_secret::kind::password : store_secret::kind::key_file, id == used->id});
  }
  std::ranges::sort(found, {}, &store_key::id);
  return found;
}

result<std::string> backup_store::add_key(const store_secret& secret) {
  const auto& used = held_->opened->opened_by();
  const auto given = secret_of(secret);
  if (!used || !given) {
    return status(status_code::invalid_argument,
                  held_->folder + (used ? ": a key needs a password or a key file"
                                        : ": the store is not encrypted: it has no keys"));
  }
  const auto id = store::put_key(held_->opened->objects(), used->store_key,
                                 {.config = used->facts.config, .time = nanoseconds_now(), .label = {}}, *given);
  return id ? id : held_->named(id.error());
}

status backup_store::remove_key(const std::string& id) {
  const auto all = keys();
  if (!all) return all.error();
  if (std::ranges::count(*all, id, &store_key::id) == 0) {
    return {status_code::invalid_argument, fmt::format("{}: no key has the id {}", held_->folder, id)};
  }
  if (all->size() == 1) {
    return {status_code::invalid_argument,
            held_->folder + ": this is the last key: without it nobody can open the store"};
  }
  store::storage& objects = held_->opened->objects();
  if (status removed = objects.remove({store::object_kind::key, id}); !removed.ok()) return held_->named(removed);
  const status synced = objects.sync();
  return synced.ok() ? synced : held_->named(synced);
}

result<store_check_summary> backup_store::check(const store_check_options& options) {
  const auto checked = store::check_store(held_->opened->reading(), {.reads_data = options.reads_data,
                                                                     .threads = options.threads,
                                                                     .object_problem = options.object_problem,
                                                                     .file_problem = options.file_problem,
                                                                     .cancel = options.cancel});
  if (!checked) return held_->named(checked.error());
  return store_check_summary{checked->containers,      checked->records,       checked->snapshots,
                             checked->object_problems, checked->file_problems, checked->moved_chunks};
}

result<store_repair_summary> backup_store::repair(const store_repair_options& options) {
  const auto live = store::find_live_lease(held_->opened->objects(), held_->opened->key());
  if (!live) return held_->named(live.error());
  if (*live) {
    const auto minutes = std::chrono::ceil<std::chrono::minutes>((*live)->taken.time_left()).count();
    return held_->named(
        {status_code::unavailable,
         fmt::format("a backup is using the store ({}), and a repair needs it alone: wait until the "
                     "backup has ended; if it was killed, its lease ends in {} minutes unless you remove {}",
                     (*live)->taken.owner, minutes, store::path_of({store::object_kind::lease, (*live)->id}))});
  }
  std::uint64_t damaged_lists = 0;
  const status settled = store::settle_removals(*held_->opened, [&](const std::string& object, const status& why) {
    ++damaged_lists;
    if (options.damaged) options.damaged(object, why, 0);
  });
  if (!settled.ok()) return held_->named(settled);
  const auto repaired = store::repair_store(held_->opened->reading(), held_->opened->config(),
                                            {.threads = options.threads,
                                             .events = {options.damaged, options.lost, options.replaced},
                                             .cancel = options.cancel});
  const status reopened = held_->opened->reopen_shards();  // the index is another one, perhaps also after a failure
  if (!repaired) return held_->named(repaired.error());
  if (!reopened.ok()) return held_->named(reopened);
  return store_repair_summary{repaired->damaged_objects + damaged_lists, repaired->saved_records, repaired->lost_files,
                              repaired->replaced_snapshots};
}

result<store_report> backup_store::report(const store_report_options& options) {
  auto made = store::report_store(*held_->opened, options);
  return made ? std::move(made) : held_->named(made.error());
}

result<store_statistics> backup_store::statistics() {
  store::open_store& opened = *held_->opened;
  store_statistics sum;
  for (const auto& [kind, count, bytes] :
       {std::tuple{store::object_kind::snapshot, &sum.snapshots, static_cast<std::uint64_t*>(nullptr)},
        {store::object_kind::container, &sum.containers, &sum.container_bytes},
        {store::object_kind::shard, &sum.shards, &sum.shard_bytes}}) {
    const auto ids = opened.objects().list(kind);
    if (!ids) return held_->named(ids.error());
    *count = ids->size();
    for (const std::string& id : *ids) {
      if (bytes == nullptr) break;
      const auto size = opened.objects().size({kind, id});
      if (size) *bytes += *size;
    }
  }
  sum.records = opened.shards().entry_count();
  return sum;
}

}  // namespace cutpoint
