// Copies snapshots from one store into another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/engine.h>

#include "store/access/leased_session.h"
#include "store/access/open_store.h"
#include "store/format/progress_meter.h"
#include "store/session/deduplicator.h"
#include "store/view/shared_reader.h"

namespace cutpoint::store {

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
  /// Copies a snapshot, durably, and returns the copy. Errors: those of the target; cancelled. Nothing is committed then,
  /// and the next copy uses what was stored. If the source has failed, `source_failure` says why.
  [[nodiscard]] result<listed_snapshot> copy(const listed_snapshot& original, status& source_failure);

  /// Returns the work of all copies so far.
  [[nodiscard]] const store_work& work() const noexcept { return work_; }

 private:
  [[nodiscard]] bool keeps_records() const;
  [[nodiscard]] bool is_copy(const snapshot& original, const snapshot& other) const;
  [[nodiscard]] result<record_reference> copy_contents(const snapshot& original, leased_session& session,
                                                       deduplicator& writer, status& source_failure);

  engine& threads_;
  open_store& source_;
  open_store& target_;
  copy_options options_;
  shared_reader reader_;
  std::vector<listed_snapshot> originals_;
  std::vector<listed_snapshot> copies_;  ///< the snapshots of the target
  store_work work_;
};

}  // namespace cutpoint::store
