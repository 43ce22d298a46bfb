// What stores tell in C: snapshots, files, summaries.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "bindings/c/options.h"
#include "bindings/c/store.h"

namespace cutpoint::embed {

namespace {

constexpr bool is_same(file_kind there, int here) { return static_cast<int>(there) == here; }
static_assert(is_same(file_kind::directory, CUTPOINT_DIRECTORY));
static_assert(is_same(file_kind::regular_file, CUTPOINT_REGULAR_FILE));
static_assert(is_same(file_kind::symbolic_link, CUTPOINT_SYMBOLIC_LINK));
static_assert(is_same(file_kind::fifo, CUTPOINT_FIFO));
static_assert(is_same(file_kind::socket, CUTPOINT_SOCKET));
static_assert(is_same(file_kind::character_device, CUTPOINT_CHARACTER_DEVICE));
static_assert(is_same(file_kind::block_device, CUTPOINT_BLOCK_DEVICE));

constexpr bool is_same(store_change_kind there, int here) { return static_cast<int>(there) == here; }
static_assert(is_same(store_change_kind::added, CUTPOINT_CHANGE_ADDED));
static_assert(is_same(store_change_kind::removed, CUTPOINT_CHANGE_REMOVED));
static_assert(is_same(store_change_kind::modified, CUTPOINT_CHANGE_MODIFIED));
static_assert(is_same(store_change_kind::retyped, CUTPOINT_CHANGE_RETYPED));
static_assert(is_same(store_change_kind::metadata, CUTPOINT_CHANGE_METADATA));

static_assert(static_cast<int>(store_restore_action::restored) == CUTPOINT_FILE_RESTORED);
static_assert(static_cast<int>(store_restore_action::removed) == CUTPOINT_FILE_REMOVED);

}  // namespace

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  std::ranges::transform(texts, std::back_inserter(pointers), &std::string::c_str);
  return pointers;
}

shown_snapshot::shown_snapshot(store_snapshot snapshot)
    : snapshot_(std::move(snapshot)), paths_(pointers_to(snapshot_.paths)), tags_(pointers_to(snapshot_.tags)) {
  shown_.struct_bytes = sizeof shown_;
  shown_.id = snapshot_.id.c_str();
  shown_.sequence = snapshot_.sequence;
  shown_.time = snapshot_.time;
  shown_.duration = snapshot_.duration;
  shown_.flags = snapshot_.is_incomplete ? CUTPOINT_SNAPSHOT_INCOMPLETE : 0;
  shown_.parent = snapshot_.parent.c_str();
  shown_.host = snapshot_.host.c_str();
  shown_.paths = paths_.data();
  shown_.path_count = paths_.size();
  shown_.tags = tags_.data();
  shown_.tag_count = tags_.size();
  shown_.files = snapshot_.files;
  shown_.folders = snapshot_.folders;
  shown_.bytes = snapshot_.bytes;
  shown_.new_raw_bytes = snapshot_.new_raw_bytes;
  shown_.new_stored_bytes = snapshot_.new_stored_bytes;
  shown_.original = snapshot_.original.c_str();
  shown_.healed_chunks = snapshot_.healed_chunks;
}

cutpoint_stored_file shown(const stored_file& file) noexcept {
  cutpoint_stored_file record = {};
  record.struct_bytes = sizeof record;
  record.path = file.path.c_str();
  record.target = file.target.c_str();
  record.kind = static_cast<std::int32_t>(file.kind);
  record.permissions = file.permissions;
  record.user_id = file.user_id;
  record.group_id = file.group_id;
  record.size = file.size;
  record.modified_seconds = file.modified.tv_sec;
  record.modified_nanoseconds = file.modified.tv_nsec;
  record.changed_seconds = file.changed.tv_sec;
  record.changed_nanoseconds = file.changed.tv_nsec;
  record.link_count = file.link_count;
  record.device = file.device;
  record.inode = file.inode;
  record.device_number = file.device_number;
  record.file_flags = file.flags;
  return record;
}

cutpoint_store_backup_progress shown(const store_backup_progress& progress) noexcept {
  cutpoint_store_backup_progress record = {};
  record.struct_bytes = sizeof record;
  record.new_files = progress.files.added;
  record.changed_files = progress.files.changed;
  record.unchanged_files = progress.files.unchanged;
  record.new_folders = progress.folders.added;
  record.changed_folders = progress.folders.changed;
  record.unchanged_folders = progress.folders.unchanged;
  record.bytes = progress.bytes;
  record.read_bytes = progress.read_bytes;
  record.problems = progress.problems;
  record.parent_files = progress.parent_files;
  record.parent_bytes = progress.parent_bytes;
  record.path = progress.path.c_str();
  return record;
}

cutpoint_store_restore_summary shown(const store_restore_summary& summary) noexcept {
  return {sizeof(cutpoint_store_restore_summary),
          summary.files,
          summary.folders,
          summary.bytes,
          summary.problems,
          summary.written_bytes,
          summary.read_containers,
          summary.removed,
          summary.copied_links};
}

cutpoint_store_check_summary shown(const store_check_summary& summary) noexcept {
  return {sizeof(cutpoint_store_check_summary),
          summary.containers,
          summary.records,
          summary.snapshots,
          summary.object_problems,
          summary.file_problems,
          summary.moved_chunks,
          summary.read_containers};
}

cutpoint_store_repair_summary shown(const store_repair_summary& summary) noexcept {
  return {sizeof(cutpoint_store_repair_summary), summary.damaged_objects, summary.saved_records, summary.lost_files,
          summary.replaced_snapshots};
}

cutpoint_store_edit_summary shown(const store_edit_summary& summary) noexcept {
  return {sizeof(cutpoint_store_edit_summary), summary.edited, summary.unchanged, summary.problems};
}

cutpoint_store_copy_summary shown(const store_copy_summary& summary) noexcept {
  return {sizeof(cutpoint_store_copy_summary),
          summary.copied,
          summary.skipped,
          summary.problems,
          summary.new_raw_bytes,
          summary.new_stored_bytes};
}

cutpoint_store_diff_summary shown(const store_diff_summary& summary) noexcept {
  const store_diff_side& added = summary.added;
  const store_diff_side& removed = summary.removed;
  return {sizeof(cutpoint_store_diff_summary),
          summary.modified,
          added.files,
          added.folders,
          added.others,
          added.bytes,
          removed.files,
          removed.folders,
          removed.others,
          removed.bytes,
          summary.problems};
}

cutpoint_store_prune_summary shown(const store_prune_summary& summary) noexcept {
  return {sizeof(cutpoint_store_prune_summary),
          summary.containers,
          summary.container_bytes,
          summary.unused_bytes,
          summary.removed_containers,
          summary.removed_bytes,
          summary.rewritten_containers,
          summary.rewritten_bytes,
          summary.left_unused_bytes,
          summary.kept_containers,
          summary.waiting_containers,
          summary.damaged_copies,
          summary.missing_bytes};
}

cutpoint_store_counts shown(const store_statistics& counts) noexcept {
  return {sizeof(cutpoint_store_counts),
          counts.snapshots,
          counts.containers,
          counts.container_bytes,
          counts.records,
          counts.shards,
          counts.shard_bytes};
}

int show(const store_work& done, cutpoint_store_work work, void* context) {
  const cutpoint_statistics record = statistics_of(done.feed, done.chunk_count);
  work(context, &record);
  return 0;
}

}  // namespace cutpoint::embed
