// Copies snapshots between stores: their trees, and the contents of these, record by record or cut again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/source.h>

#include "store/backup/content_feed.h"
#include "store/backup/tree_builder.h"
#include "store/format/clock.h"
#include "store/objects/small_object.h"
#include "store/session/content_window.h"
#include "store/session/deduplicator.h"
#include "store/session/leased_session.h"
#include "store/session/open_store.h"
#include "store/session/records.h"
#include "store/session/shared_reader.h"

namespace cutpoint::store {

/// Fills entries of a new tree with the contents of stored files, which are given in the order of a walk. Not thread-safe.
class content_copier {
 public:
  /// `meter`, which may be null, counts the bytes of contents.
  explicit content_copier(progress_meter* meter) : meter_(meter) {}
  content_copier(const content_copier&) = delete;
  content_copier& operator=(const content_copier&) = delete;
  virtual ~content_copier() = default;

  /// The files that follow are in a folder of the present one, until `leave` is called.
  virtual void enter(const std::string& folder) = 0;
  virtual void leave() = 0;
  /// Copies the content of a file, which has some. The entry has all other facts and is completed later, perhaps by another
  /// thread. Errors: those of the target; if the source has failed, `source_failure` says why.
  [[nodiscard]] virtual status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                                    const std::string& path) = 0;
  /// Waits until all entries are complete. Errors: as for `copy`.
  [[nodiscard]] virtual status finish() = 0;

  /// Returns why a file of the source cannot be copied. Nothing else may be called then.
  [[nodiscard]] const status& source_failure() const noexcept { return source_failure_; }

 protected:
  void count(std::uint64_t bytes, std::string_view path = {}) {
    if (meter_ != nullptr) meter_->add(0, bytes, path);
  }
  [[nodiscard]] status fail(const std::string& path, const status& why) {
    source_failure_ = {why.code(), path + ": " + why.message(), why.system_error()};
    return source_failure_;
  }

 private:
  progress_meter* meter_;
  status source_failure_;
};

/// Reads only chunks that the target lacks. Each is compared with its digest. Compressed chunks stay compressed as they
/// are, whatever level the target has. Memory: at most 32 MiB of contents and a chunk, and that of a window.
class record_copier final : public content_copier {
 public:
  /// The references must outlive the copier. `nodes` reads lists of extents, `chunks` all that `records` lacks.
  record_copier(node_source& nodes, content_window& chunks, const store_config& source_config, deduplicator& records,
                const store_config& target_config, progress_meter* meter);

  void enter(const std::string&) override {}
  void leave() override {}
  [[nodiscard]] status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                            const std::string& path) override;
  [[nodiscard]] status finish() override;

 private:
  struct copied_file {
    std::shared_ptr<pending_entry> entry;
    std::string path;
    bool has_own_level;  ///< whether its rule in the context, which both stores have, says how it is compressed
  };
  /// An extent that waits until its chunk is in the target.
  struct waiting_extent {
    std::shared_ptr<const copied_file> file;
    stored_extent extent;
    bool is_last = false;  ///< of the file
  };
  /// A chunk that the target lacks.
  struct missing_chunk {
    std::size_t extent;       ///< index of one that has it
    record_reference record;  ///< with its hint in the source
    result<stored_chunk> read = stored_chunk();
  };

  [[nodiscard]] result<std::vector<missing_chunk>> look_up();
  void take(missing_chunk& chunk, const result<chunk_content>& content);

  node_source& nodes_;
  content_window& chunks_;
  deduplicator& records_;
  compressor_pool compressors_;  ///< for chunks that the source did not try to compress
  record_codec target_codec_;
  std::vector<waiting_extent> waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

/// Reads the contents through the engine, as a backup does. Files that an earlier snapshot has at the same path with the
/// same content are not read, if that snapshot was copied: the copy has their new chunks.
class recut_copier final : public content_copier {
 public:
  /// An earlier snapshot in the source, and its copy in the target; both without a root if there is none.
  struct earlier_trees {
    parent_tree original;
    parent_tree copy;
  };

  /// The references must outlive the copier.
  recut_copier(engine& threads, const feed_options& feed, deduplicator& records, shared_reader& source,
               earlier_trees earlier, progress_meter* meter)
      : content_copier(meter), source_(source), contents_(threads, feed, records), earlier_(std::move(earlier)) {
    contents_.watch([this](std::uint64_t bytes) { count(bytes); });
  }

  void enter(const std::string& folder) override;
  void leave() override;
  [[nodiscard]] status copy(std::shared_ptr<pending_entry> entry, const folder_entry& original,
                            const std::string& path) override;
  [[nodiscard]] status finish() override { return contents_.finish(); }
  /// Adds the work of what was finished.
  void add_work(store_work& sum) const {
    add(sum.reading, files_.meter.record.work);
    contents_.add_work(sum);
  }

 private:
  struct first_name {
    std::shared_ptr<const pending_entry> entry;
    folder_entry original;
  };

  [[nodiscard]] bool take_from_earlier(pending_entry& entry, const folder_entry& original);

  shared_reader& source_;
  file_feeder files_{nullptr, nullptr};
  content_feed contents_;
  earlier_trees earlier_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, first_name> first_names_;  ///< by device and inode
};

/// Writes a tree with the files of another one, whose contents `contents` copies, and returns its root. Memory: as for a
/// backup. Errors: those of the target; cancelled. If the source has failed, `source_failure` says why, with the path.
[[nodiscard]] result<record_reference> copy_tree(const record_reference& root, record_source& source,
                                                 content_copier& contents, node_receiver& nodes,
                                                 const cancellation* cancel, status& source_failure);

// Copies snapshots from one store into another.

struct copy_options {
  feed_options feed;                       ///< by which contents are cut again, as the target requires
  std::uint64_t threads = 0;               ///< that read chunks; 0: one for each processor
  std::uint64_t memory_bytes = 128 * MiB;  ///< for reading the source
  progress_meter* meter = nullptr;         ///< counts the bytes of contents
  const cancellation* cancel = nullptr;
};

/// Copies one snapshot after the other. A copy has everything that the original says of the backup, and also its session,
/// by which it is found when it was copied before. Not thread-safe.
class snapshot_copier {
 public:
  using listed_snapshot = open_store::listed_snapshot;

  /// The references must outlive the copier.
  snapshot_copier(engine& threads, open_store& source, open_store& target, const copy_options& options);

  /// Reads the snapshots of both stores. Those of the source that cannot be read are reported. Errors: those of the
  /// storages.
  [[nodiscard]] status begin(const problem_function& problem);
  /// Returns the snapshots of the source, the oldest first.
  [[nodiscard]] const std::vector<listed_snapshot>& originals() const noexcept { return originals_; }

  /// Returns the copy that the target has of a snapshot, or null.
  [[nodiscard]] const listed_snapshot* find_copy(const snapshot& original) const;
  /// Copies a snapshot, durably, and returns the copy. All copies are of one session of the target, which ends with this object or
  /// with a failure. Errors: those of the target; cancelled. Nothing is committed then, and the next copy uses what was stored. If
  /// the source has failed, `source_failure` says why.
  [[nodiscard]] result<listed_snapshot> copy(const listed_snapshot& original, status& source_failure);

  /// Returns the work of all copies so far, with those that have failed.
  [[nodiscard]] store_work work();

 private:
  [[nodiscard]] bool keeps_records() const;
  [[nodiscard]] bool is_copy(const snapshot& original, const snapshot& other) const;
  [[nodiscard]] status begin_session();
  void end_session();
  [[nodiscard]] status find_copies();
  [[nodiscard]] const listed_snapshot* find_original(const std::string& id) const;
  [[nodiscard]] result<listed_snapshot> copy_new(const listed_snapshot& original, status& source_failure);
  [[nodiscard]] result<record_reference> copy_contents(const snapshot& original, status& source_failure);
  [[nodiscard]] result<record_reference> copy_records(const snapshot& original, status& source_failure);

  engine& threads_;
  open_store& source_;
  open_store& target_;
  copy_options options_;
  shared_reader reader_;
  // What chunks are read by that are copied as they are.
  table_cache tables_;
  std::optional<shard_index> shards_;
  std::optional<content_window> chunks_;
  std::vector<listed_snapshot> originals_;
  std::map<std::string, std::size_t> originals_by_id_;  ///< their indices
  /// The indices of the originals of each host and list of paths, the oldest first.
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::size_t>> originals_by_source_;
  /// The snapshots of the target, and some that were replaced or removed since, by what a copy has in common with its original.
  std::multimap<std::pair<session_id, std::int64_t>, listed_snapshot> copies_;
  std::uint64_t last_entry_ = 0;  ///< number of the newest entry of the target's log whose snapshots `copies_` has
  std::unique_ptr<leased_session> session_;
  std::unique_ptr<store_writer> writer_;  ///< of the session
  store_work work_;                       ///< of writers that are gone, and of feeds
};

}  // namespace cutpoint::store
