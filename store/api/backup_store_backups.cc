// The public class of a store: backups and copies.
#include <algorithm>
#include <chrono>
#include <new>

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "store/access/commit.h"
#include "store/api/backup_store.h"
#include "store/backup/named_paths.h"
#include "store/copy/snapshot_copier.h"
#include "store/format/clock.h"
#include "store/rewrite/snapshot_rewrite.h"
#include "store/storage/discarding_storage.h"

namespace cutpoint {

result<store_snapshot> backup_store::back_up(engine& threads, const store_backup_options& options) {
  return implementation_->back_up(threads, options);
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
  auto all = opened_store->snapshots({});
  if (!all) return named(all.error());
  for (auto& each : *all) {
    if (each.facts.host == options.host && each.facts.paths == paths) newest = std::move(each);
  }
  return newest;
}

namespace {

void describe(const store::backup_summary& summary, store::snapshot& facts) {
  facts.root = summary.root;
  facts.is_incomplete = summary.totals.problems != 0;
  facts.paths = summary.paths;
  facts.statistics.files = summary.files;
  facts.statistics.folders = summary.folders;
  facts.statistics.bytes = summary.bytes;
}

}  // namespace

result<store_snapshot> backup_store::implementation::back_up(engine& threads, const store_backup_options& options) {
  if (status memory = opened_store->check_memory(options.memory_bytes); !memory.ok()) return memory;
  auto feed = feed_of(threads, options.lanes, options.memory_bytes, options.cancel);
  if (!feed) return feed.error();
  if (options.most_old_containers != 0) {
    if (feed->segment_bytes != 0) {
      return status(
          status_code::invalid_argument,
          fmt::format("segment_bytes = {} cannot be chosen with most_old_containers, which needs segments of {}",
                      feed->segment_bytes, format_size(store::container_cap::segment_bytes)));
    }
    feed->segment_bytes = store::container_cap::segment_bytes;
  }
  store::backup_options files{.paths = options.paths,
                              .standard_input_name = options.standard_input_name,
                              .walking = options.walking,
                              .feed = *std::move(feed),
                              .access = options.access,
                              .most_bytes_per_second = options.most_bytes_per_second,
                              .problem = options.problem,
                              .warning = options.warning,
                              .progress = options.progress,
                              .cancel = options.cancel};
  if (status checked = store::check_tags(options.tags); !checked.ok()) return checked;
  if (!folder.empty()) {
    if (const auto own = describe_file(folder, symlinks::follow); own) files.walking.exclude_files.insert(*own);
  }
  const auto paths = store::named_paths(files);
  if (!paths) return paths.error();
  store::snapshot facts;
  facts.time = options.time != 0 ? options.time : store::nanoseconds_now();
  facts.host = options.host;
  facts.tags = options.tags;
  facts.paths = store::outermost_paths(*paths);
  if (status checked = store::check_texts(facts); !checked.ok()) return checked;
  const auto session =
      options.is_dry_run ? result(std::unique_ptr<store::held_session>()) : store::held_session::begin(*opened_store);
  if (!session) return named(session.error());
  // A parent that was found before the session might lose its data to a prune that does not know of the session.
  const auto parent = parent_of(options, facts.paths);
  if (!parent) return parent.error();
  if (*parent) {
    const store::snapshot& before = (*parent)->facts;
    files.parent = before.root;
    files.is_parent_incomplete = before.is_incomplete;
    files.start = {.parent_files = before.statistics.files, .parent_bytes = before.statistics.bytes};
    facts.parent = (*parent)->id;
  }
  if (options.is_dry_run) return write_nothing(threads, files, options, std::move(facts));
  facts.session = (*session)->id();
  auto committed = write(threads, files, options, std::move(facts), **session);
  if (committed) merge_shards();
  return committed;
}

/// Does what `write` does, with a storage that discards what is put.
result<store_snapshot> backup_store::implementation::write_nothing(engine& threads, const store::backup_options& files,
                                                                   const store_backup_options& options,
                                                                   store::snapshot facts) {
  const auto begin = std::chrono::steady_clock::now();
  const auto log = opened_store->read_log();
  if (!log) return named(log.error());
  store::discarding_storage objects(opened_store->objects());
  store::table_cache tables(objects, opened_store->key(), store::table_cache::usual_bytes, log->unusable());
  store::session_containers containers;
  // No entry becomes a shard, because it could not be read back.
  const auto writer = opened_store->open_writer(objects, tables, containers, *log, SIZE_MAX);
  if (!writer) return named(writer.error());
  store::write_session& records = (*writer)->records;
  const auto stored = store_files(threads, files, options, objects, records, opened_store->shards());
  if (!stored) return stored.error();
  if (const status approved = options.before_commit ? options.before_commit() : status(); !approved.ok())
    return approved;
  describe(*stored, facts);
  facts.statistics.new_raw_bytes = (*writer)->containers.raw_bytes();
  facts.statistics.new_stored_bytes = (*writer)->containers.stored_bytes();
  store_snapshot snapshot = snapshot_of({}, facts);
  snapshot.healed_chunks = records.healed_chunks();
  report_session(threads, begin, stored->work, records, options.work);
  return snapshot;
}

/// Stores the files. `parent_shards` is used by one thread, and so not the index of the session.
result<store::backup_summary> backup_store::implementation::store_files(
    engine& threads, const store::backup_options& files, const store_backup_options& options, store::storage& objects,
    store::write_session& records, store::shard_index& parent_shards) {
  if (options.most_old_containers != 0)
    records.cap_containers(options.most_old_containers, objects, opened_store->key());
  return store::backup_files(threads, records, opened_store->reading(parent_shards), files);
}

/// Makes durable what a session has written, and commits a snapshot of it.
result<store_snapshot> backup_store::implementation::commit(store::held_session& session, store::session_writer& writer,
                                                            store::snapshot facts,
                                                            std::chrono::steady_clock::time_point begin,
                                                            const cancellation* cancel,
                                                            const std::function<status()>& before_commit) {
  if (status finished = writer.finish(facts.statistics); !finished.ok()) return named(finished);
  if (cancel != nullptr && cancel->is_requested()) return stopped_as_asked();
  if (const status approved = before_commit ? before_commit() : status(); !approved.ok()) return approved;
  facts.duration =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  auto committed = store::commit_snapshot(session, std::move(facts));
  if (!committed) return named(committed.error());
  store_snapshot snapshot = snapshot_of(std::move(committed->id), committed->facts);
  snapshot.healed_chunks = writer.records.healed_chunks();
  return snapshot;
}

/// Writes what is new of the files, and commits. `facts` is what is known of the snapshot before. The id is empty if no
/// snapshot is made, because nothing has changed.
result<store_snapshot> backup_store::implementation::write(engine& threads, const store::backup_options& files,
                                                           const store_backup_options& options, store::snapshot facts,
                                                           store::held_session& session) {
  const auto begin = std::chrono::steady_clock::now();
  auto writer = session.open_writer();
  if (!writer) return named(writer.error());
  auto parent_shards = session.open_shards();
  if (!parent_shards) return named(parent_shards.error());
  const auto stored = store_files(threads, files, options, session.objects(), (*writer)->records, *parent_shards);
  if (!stored) return stored.error();
  describe(*stored, facts);
  auto done = options.skips_unchanged && stored->is_unchanged
                  ? result(snapshot_of({}, facts))
                  : commit(session, **writer, std::move(facts), begin, files.cancel, options.before_commit);
  if (done) report_session(threads, begin, stored->work, (*writer)->records, options.work);
  return done;
}

/// Merges shards, so that few are looked up. A failure costs speed alone: the next backup merges them.
void backup_store::implementation::merge_shards() try {
  if (!opened_store->reopen_shards().ok()) return;
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
  auto feed = implementation_->feed_of(threads, options.lanes, options.memory_bytes / 2, options.cancel);
  if (!feed) return feed.error();
  store::progress_meter meter(options.progress);
  store::snapshot_copier copier(threads, source.internals(), internals(),
                                {.feed = *std::move(feed),
                                 .threads = options.threads,
                                 .memory_bytes = options.memory_bytes / 2,
                                 .meter = &meter,
                                 .cancel = options.cancel});
  if (status begun = copier.begin(report); !begun.ok()) return begun;
  for (const std::string& id : options.snapshots) {
    if (const auto snapshot = source.implementation_->read(id); !snapshot) return snapshot.error();
  }
  const auto is_chosen = [&](const auto& original) {
    return options.snapshots.empty() || std::ranges::count(options.snapshots, original.id) != 0;
  };
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
        options.skipped(implementation::snapshot_of(original.id, original.facts),
                        implementation::snapshot_of(there->id, there->facts));
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
      options.copied(implementation::snapshot_of(original.id, original.facts),
                     implementation::snapshot_of(copy->id, copy->facts));
  }
  implementation::report_work(threads, begin, copier.work(), options.work);
  if (sum.copied != 0) implementation_->merge_shards();
  return sum;
}

}  // namespace cutpoint
