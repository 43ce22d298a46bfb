// The stages of a backup, and two ways to run them that the papers compare with parallel ones.
//
// Apart because the program would have 700 lines with the stages that it compares.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/chunker.h>

#include "store/backup/tree_builder.h"
#include "store/session/deduplicator.h"

namespace cutpoint::bench {

/// P-Dedupe's four stages (section 3.2). Reading counts as chunking.
enum class stage { chunking, fingerprinting, indexing, writing };
inline constexpr std::size_t stages = 4;

/// Chunks of a file that pass through the stages together.
struct chunk_batch {
  std::shared_ptr<store::pending_entry> entry;
  bool is_last = false;  ///< of the file
  std::vector<std::uint8_t> bytes;
  std::vector<delivered_chunk> chunks;  ///< their `bytes` are in `bytes`
  std::vector<std::unique_ptr<chunk_work>> work;
};

/// The threads that cut, as many as the paper fixes, and the size of their segments.
struct cutting_threads {
  std::uint64_t count = 0;
  std::uint64_t segment_bytes = 4 * MiB;
};

/// Backs files up into a session, each whole file by the sequential chunker. Each stage works on one batch at a time, and
/// different stages may work in different threads.
class staged_backup {
 public:
  /// The arguments must outlive the object.
  staged_backup(const chunker& cuts, batch_fingerprinter& names, store::deduplicator& records)
      : cuts_(cuts), names_(names), records_(records), tree_(records, {}) {}

  /// All stages in this thread, one after the other: the paper's "Baseline".
  [[nodiscard]] result<store::record_reference> run_serially(const std::vector<std::string>& files);
  /// A thread for each stage, with queues between them: the paper's "Pipeline".
  [[nodiscard]] result<store::record_reference> run_in_pipeline(const std::vector<std::string>& files);

  /// As in a pipeline, with several threads for cutting and several for fingerprints, one of `names` each: the paper's
  /// P-Dedupe (section 4.1). Segments are cut as if they were streams, and joined as section 3.3 says.
  [[nodiscard]] result<store::record_reference> run_with_threads(
      const std::vector<std::string>& files, const cutting_threads& threads,
      const std::vector<std::unique_ptr<batch_fingerprinter>>& names);

  /// Seconds that each stage worked, without waiting for others.
  [[nodiscard]] const std::array<double, stages>& seconds() const noexcept { return seconds_; }

 private:
  using emit_function = std::function<status(chunk_batch)>;

  /// Cuts a file by several threads, and emits its batches in order.
  [[nodiscard]] status cut_segments(const std::string& path, const cutting_threads& threads, const emit_function& emit);
  [[nodiscard]] status cut_files(const std::vector<std::string>& files, const emit_function& emit);
  [[nodiscard]] status fingerprint(chunk_batch& batch);
  [[nodiscard]] status index(chunk_batch& batch);
  [[nodiscard]] status write(chunk_batch& batch);
  /// Calls a stage, and counts its time.
  [[nodiscard]] status timed(stage which, status (staged_backup::*work)(chunk_batch&), chunk_batch& batch);

  const chunker& cuts_;
  batch_fingerprinter& names_;
  store::deduplicator& records_;
  store::deduplicator::selection selected_;
  store::tree_builder tree_;
  std::array<double, stages> seconds_ = {};
};

}  // namespace cutpoint::bench
