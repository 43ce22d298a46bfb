// The public class of a store: backups and copies.
#include <algorithm>
#include <chrono>
#include <new>
#include <set>
#include <string_view>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "store/api/backup_store.h"
#include "store/backup/file_description.h"
#include "store/format/clock.h"
#include "store/session/leased_session.h"
#include "store/storage/directory_storage.h"
#include "store/upkeep/snapshot_copier.h"
#include "store/upkeep/upkeep.h"

namespace cutpoint {

/// The newest snapshot with the same host and paths, or the one that was asked for; nullopt without one.
result<std::optional<store::open_store::listed_snapshot>> backup_store::named_store::parent_of(
    const store_backup_options& options, const std::vector<std::string>& paths) {
  std::optional<store::open_store::listed_snapshot> newest;
  if (options.reads_everything) return newest;
  if (!options.parent.empty()) {
    CUTPOINT_TRY(auto asked, read(options.parent));
    return std::optional(store::open_store::listed_snapshot{options.parent, std::move(asked)});
  }
  CUTPOINT_TRY(auto all, named(opened_store->snapshots({})));
  for (auto& each : all) {
    if (each.facts.host == options.host && each.facts.paths == paths) newest = std::move(each);
  }
  return newest;
}

result<store_snapshot> backup_store::back_up(engine& threads, const store_backup_options& options) {
  named_store& own = *implementation_;
  CUTPOINT_RETURN_IF_FAILED(own.opened_store->check_memory(options.memory_bytes));
  CUTPOINT_TRY(auto feed, own.feed_of(threads, options.lanes, options.memory_bytes, options.cancel));
  if (options.most_old_containers != 0) {
    if (feed.segment_bytes != 0) {
      return status(
          status_code::invalid_argument,
          fmt::format("segment_bytes = {} cannot be chosen with most_old_containers, which needs segments of {}",
                      feed.segment_bytes, format_size(store::container_cap::segment_bytes)));
    }
    feed.segment_bytes = store::container_cap::segment_bytes;
  }
  CUTPOINT_RETURN_IF_FAILED(store::check_tags(options.tags));
  named_store::prepared_backup backup{.options = options, .feed = std::move(feed)};
  if (!own.folder.empty()) {
    const auto store_folder = describe_file(own.folder, symlinks::follow);
    if (store_folder) backup.options.walking.exclude_files.insert(*store_folder);
  }
  CUTPOINT_TRY(const auto paths, store::named_paths(options));
  backup.facts.time = options.time != 0 ? options.time : store::nanoseconds_now();
  backup.facts.host = options.host;
  backup.facts.tags = options.tags;
  backup.facts.paths = store::outermost_paths(paths);
  CUTPOINT_RETURN_IF_FAILED(store::check_texts(backup.facts));
  auto session = options.is_dry_run ? result(std::unique_ptr<store::leased_session>())
                                    : store::leased_session::begin(*own.opened_store);
  if (!session) return own.named(session.error());
  // A parent that was found before the session might lose its data to a prune that does not know of the session.
  CUTPOINT_TRY(const auto parent, own.parent_of(options, backup.facts.paths));
  if (parent) {
    const store::snapshot& before = parent->facts;
    backup.parent = {before.root, before.is_incomplete, before.statistics.files, before.statistics.bytes};
    backup.facts.parent = parent->id;
  }
  if (options.is_dry_run) return own.write_nothing(threads, std::move(backup));
  auto written = own.write(threads, std::move(backup), **session);
  if (written) own.merge_shards();
  return written;
}

/// Writes what is new of the files, and commits.
result<store_snapshot> backup_store::named_store::write(engine& threads, prepared_backup backup,
                                                        store::leased_session& session) {
  backup.begin = std::chrono::steady_clock::now();
  backup.facts.session = session.id();
  CUTPOINT_TRY(const auto writer, named(session.open_writer()));
  CUTPOINT_TRY(auto parent_shards, named(session.open_shards()));
  return store_files(threads, std::move(backup), session.objects(), *writer, parent_shards, &session);
}

/// Does what `write` does, with a storage that discards what is put.
result<store_snapshot> backup_store::named_store::write_nothing(engine& threads, prepared_backup backup) {
  backup.begin = std::chrono::steady_clock::now();
  CUTPOINT_TRY(const auto log, named(opened_store->read_log()));
  store::discarding_storage objects(opened_store->objects());
  store::table_cache tables(objects, opened_store->key(), store::table_cache::usual_bytes, log.unusable());
  store::own_containers containers;
  // No entry becomes a shard, because it could not be read back.
  CUTPOINT_TRY(const auto writer, named(opened_store->open_writer(objects, tables, containers, log, SIZE_MAX)));
  return store_files(threads, std::move(backup), objects, *writer, opened_store->shards(), nullptr);
}

/// Stores the files, and commits them unless the session is null. `parent_shards` is used by one thread, and so not the index
/// of the session. The id is empty if no snapshot is made.
result<store_snapshot> backup_store::named_store::store_files(engine& threads, prepared_backup backup,
                                                              store::storage& objects, store::store_writer& writer,
                                                              store::shard_index& parent_shards,
                                                              store::leased_session* session) {
  const store_backup_options& options = backup.options;
  store::snapshot& facts = backup.facts;
  if (options.most_old_containers != 0)
    writer.records.cap_containers(options.most_old_containers, objects, opened_store->key());
  CUTPOINT_TRY(const auto stored, store::backup_files(threads, writer.records, opened_store->reading(parent_shards),
                                                      options, backup.feed, backup.parent));
  facts.root = stored.root;
  facts.is_incomplete = stored.totals.problems != 0;
  facts.paths = stored.paths;
  facts.statistics.files = stored.files;
  facts.statistics.folders = stored.folders;
  facts.statistics.bytes = stored.bytes;
  result<store_snapshot> done = snapshot_of({}, facts);
  if (session == nullptr) {
    CUTPOINT_RETURN_IF_FAILED(options.before_commit ? options.before_commit() : status());
    done->new_raw_bytes = writer.containers.raw_bytes();
    done->new_stored_bytes = writer.containers.stored_bytes();
    done->healed_chunks = writer.records.healed_chunks();
  } else if (!options.skips_unchanged || !stored.is_unchanged) {
    done = commit(*session, writer, std::move(facts), backup.begin, options.cancel, options.before_commit);
  }
  if (done) report_session(threads, backup.begin, stored.work, writer.records, options.work);
  return done;
}

/// Makes durable what a session has written, and commits a snapshot of it.
result<store_snapshot> backup_store::named_store::commit(store::leased_session& session, store::store_writer& writer,
                                                         store::snapshot facts,
                                                         std::chrono::steady_clock::time_point begin,
                                                         const cancellation* cancel,
                                                         const std::function<status()>& before_commit) {
  CUTPOINT_RETURN_IF_FAILED(named(writer.finish(facts.statistics)));
  if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
  CUTPOINT_RETURN_IF_FAILED(before_commit ? before_commit() : status());
  facts.duration =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  CUTPOINT_TRY(auto committed, named(store::commit_snapshot(session, std::move(facts))));
  store_snapshot snapshot = snapshot_of(std::move(committed.id), committed.facts);
  snapshot.healed_chunks = writer.records.healed_chunks();
  return snapshot;
}

/// Merges shards, so that few are looked up. A failure costs speed alone: the next backup merges them.
void backup_store::named_store::merge_shards() try {
  if (!opened_store->objects().may_remove(store::object_kind::shard) || !opened_store->reopen_shards().ok()) return;
  for (;;) {
    const auto merged = opened_store->shards().merge();
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
  const auto begin = std::chrono::steady_clock::now();
  CUTPOINT_TRY(auto feed, implementation_->feed_of(threads, options.lanes, options.memory_bytes / 2, options.cancel));
  store::progress_meter meter(options.progress);
  store::snapshot_copier copier(threads, source.internals(), internals(),
                                {.feed = std::move(feed),
                                 .threads = options.threads,
                                 .memory_bytes = options.memory_bytes / 2,
                                 .meter = &meter,
                                 .cancel = options.cancel});
  CUTPOINT_RETURN_IF_FAILED(copier.begin(report));
  for (const std::string& id : options.snapshots) {
    if (const auto snapshot = source.implementation_->read(id); !snapshot) return snapshot.error();
  }
  const std::set<std::string_view> chosen(options.snapshots.begin(), options.snapshots.end());
  const auto is_chosen = [&](const auto& original) { return chosen.empty() || chosen.contains(original.id); };
  std::uint64_t total_snapshots = 0;
  std::uint64_t total_bytes = 0;
  for (const auto& original : copier.originals()) {
    if (!is_chosen(original) || copier.find_copy(original.facts) != nullptr) continue;
    ++total_snapshots;
    total_bytes += original.facts.statistics.bytes;
  }
  meter.begin("copying snapshots", total_snapshots, total_bytes);
  for (const auto& original : copier.originals()) {
    if (!is_chosen(original)) continue;
    if (const auto* const there = copier.find_copy(original.facts)) {
      ++sum.skipped;
      if (options.skipped)
        options.skipped(named_store::snapshot_of(original.id, original.facts),
                        named_store::snapshot_of(there->id, there->facts));
      continue;
    }
    status source_failure;
    const auto copy = copier.copy(original, source_failure);
    if (!copy && source_failure.ok()) return implementation_->named(copy.error());
    if (!copy) {
      report(original.id, source_failure);
      continue;
    }
    ++sum.copied;
    meter.add(1, 0);
    sum.new_raw_bytes += copy->facts.statistics.new_raw_bytes;
    sum.new_stored_bytes += copy->facts.statistics.new_stored_bytes;
    if (options.copied)
      options.copied(named_store::snapshot_of(original.id, original.facts),
                     named_store::snapshot_of(copy->id, copy->facts));
  }
  named_store::report_work(threads, begin, copier.work(), options.work);
  if (sum.copied != 0) implementation_->merge_shards();
  return sum;
}

}  // namespace cutpoint
