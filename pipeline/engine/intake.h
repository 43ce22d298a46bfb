// What a feed takes in: streams one after the other become one sequence of bytes in the ring. Long runs of one byte are
// shortened on the way, by whole chunks, which are counted instead of being kept.
//
// Why that is exact: every algorithm is restartable. Where a chunk starts in a run and sees nothing but the run, from
// `behind` before it to `reach` after it, the next starts in the same situation one period later, until the run has
// fewer than `reach` bytes left. So taking whole periods out of a run that stays at least 2 reach long beyond its first
// `behind` bytes changes no other cut, and the chunks taken out stand before the first chunk that starts in the rest.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/engine/ring.h"
#include "pipeline/engine/runs.h"

namespace cutpoint {

/// How a visible_range of the sequence ends.
enum class range_end {
  open,    ///< more may come
  stream,  ///< the stream ends here
  failed,  ///< the stream could not be read on: what is not decided by here is no chunk
  cut,     ///< a cut is made here whatever the chunker says, and the stream goes on
};

/// Bytes [begin, end) of one stream, as far as they are known.
struct visible_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  range_end how = range_end::open;
};

/// Something that has happened at a position of the sequence.
struct intake_event {
  enum class kind { begin, end, run } what;
  std::uint64_t position = 0;
  std::uint64_t stream = 0;         ///< begin: as the feed calls it
  range_end how = range_end::open;  ///< end
  status outcome = {};              ///< end: of a stream
  run_period period = {};           ///< run: taken out before the first chunk that starts here or later
  std::uint64_t count = 0;          ///< run: how many periods
};

/// What others may know of the sequence since the last time.
struct intake_update {
  std::uint64_t readable = 0;  ///< bytes before this position stay as they are
  std::vector<intake_event> events;
};

/// What an intake is for.
struct intake_options {
  bool shortens_runs = false;   ///< needs a reach, and a ring of `least_ring_for_runs`
  std::uint64_t cut_every = 0;  ///< bytes of a stream between forced cuts; 0 for none; not with `shortens_runs`
};

/// A ring of fewer bytes could fill up with one run.
[[nodiscard]] std::uint64_t least_ring_for_runs(const chunker& chunker) noexcept;

/// Used by the thread that feeds; `take_update` tells the others.
class intake {
 public:
  intake(const ring& ring, const chunker& chunker, run_periods periods, intake_options plan);

  /// Where the next byte goes.
  [[nodiscard]] std::uint64_t cursor() const noexcept { return cursor_; }
  /// Bytes of the streams so far, those taken out too.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }

  void begin(std::uint64_t stream);
  /// Takes the `count` bytes that were written at the cursor. Errors: the fingerprint's.
  [[nodiscard]] status commit(std::uint64_t count);
  /// Takes up to `count` zeros, for which there is room for `room` bytes at the cursor, and says how many: all of them
  /// when a run of zeros is under way, else at least one where there is room. Errors: the fingerprint's.
  [[nodiscard]] result<std::uint64_t> commit_zeros(std::uint64_t count, std::uint64_t room);
  void end(range_end how, status outcome);

  [[nodiscard]] intake_update take_update();

 private:
  /// A run at the cursor of which the rest, from `kept_from` on, is not shown until its length is known.
  struct pending_run {
    std::uint64_t kept_from = 0;
    std::uint64_t count = 0;          ///< periods taken out so far
    std::uint64_t removed_bytes = 0;  ///< of them, those that had been written
    run_period period = {};
  };

  void force_cuts(std::uint64_t count);
  [[nodiscard]] status scan_for_runs();
  [[nodiscard]] status extend_run();
  /// Takes periods out of the run that ends at `last`, moves down what follows it, and says how many bytes are gone.
  [[nodiscard]] result<std::uint64_t> shorten(std::uint64_t last);
  void end_run();
  void publish_readable();

  const ring* ring_;
  std::uint64_t behind_;
  std::uint64_t reach_;
  run_periods periods_;
  intake_options options_;
  std::uint64_t cursor_ = 0;
  std::uint64_t scanned_ = 0;  ///< where the next run that is worth it begins at the earliest
  std::uint64_t stream_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::optional<pending_run> run_;
  intake_update update_;
};

}  // namespace cutpoint
