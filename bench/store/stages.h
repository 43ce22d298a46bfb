// The stages of a backup, and two ways to run them that the papers compare with parallel ones.
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
#include "store/session/write_session.h"

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

/// Backs files up into a session, each whole file by the sequential chunker. Each stage works on one batch at a time, and
/// different stages may work in different threads.
class staged_backup {
 public:
  /// The arguments must outlive the object.
  staged_backup(const chunker& cuts, batch_fingerprinter& names, store::write_session& session)
      : cuts_(cuts), names_(names), session_(session), tree_(session, {}) {}

  /// All stages in this thread, one after the other: the paper's "Baseline".
  [[nodiscard]] result<store::record_reference> run_serially(const std::vector<std::string>& files);
  /// A thread for each stage, with queues between them: the paper's "Pipeline".
  [[nodiscard]] result<store::record_reference> run_in_pipeline(const std::vector<std::string>& files);

  /// Seconds that each stage worked, without waiting for others.
  [[nodiscard]] const std::array<double, stages>& seconds() const noexcept { return seconds_; }

 private:
  using emit_function = std::function<status(chunk_batch)>;

  [[nodiscard]] status cut_files(const std::vector<std::string>& files, const emit_function& emit);
  [[nodiscard]] status fingerprint(chunk_batch& batch);
  [[nodiscard]] status index(chunk_batch& batch);
  [[nodiscard]] status write(chunk_batch& batch);
  /// Calls a stage, and counts its time.
  [[nodiscard]] status timed(stage which, status (staged_backup::*work)(chunk_batch&), chunk_batch& batch);

  const chunker& cuts_;
  batch_fingerprinter& names_;
  store::write_session& session_;
  store::write_session::selection selected_;
  store::tree_builder tree_;
  std::array<double, stages> seconds_ = {};
};

}  // namespace cutpoint::bench
