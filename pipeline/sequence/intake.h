// The intake writes streams one after the other into the ring, as one sequence of bytes. It shortens long runs of one
// byte by whole chunks, which it counts.
//
// Why that is exact: every algorithm is restartable. If a chunk starts in a run and sees only bytes of the run, from
// `behind` before its start to `reach` after it, the next chunk starts in the same situation one period later, until
// fewer than `reach` bytes of the run are left. So removing whole periods from a run changes no other cut, if at least
// 2 `reach` stay beyond its first `behind` bytes. The removed chunks precede the first chunk that starts in the rest.
#pragma once

#include <optional>
#include <vector>

#include "pipeline/sequence/ring.h"
#include "pipeline/sequence/runs.h"

namespace cutpoint {

/// How a visible_range of the sequence ends.
enum class range_end {
  open,    ///< more may come
  stream,  ///< the stream ends here
  failed,  ///< reading failed here: bytes whose cut is not decided lie in no chunk
  cut,     ///< a forced cut: the stream continues behind it
};

/// Visible bytes [begin, end) of one stream.
struct visible_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  range_end how = range_end::open;
  std::size_t rule = 0;  ///< of the stream's chunker
};

/// An event at a position of the sequence.
struct intake_event {
  enum class kind { begin, end, run } what;
  std::uint64_t position = 0;
  std::uint64_t stream = 0;         ///< begin: the feed's number
  std::size_t rule = 0;             ///< begin
  range_end how = range_end::open;  ///< end
  status outcome = {};              ///< end: of a stream
  run_period period = {};           ///< run: removed before the first chunk that starts here or later
  std::uint64_t count = 0;          ///< run: how many periods
};

/// The changes of the sequence since the last update.
struct intake_update {
  std::uint64_t readable = 0;  ///< bytes before this position do not change any more
  std::vector<intake_event> events;
};

struct intake_options {
  bool shortens_runs = false;   ///< needs a reach, and a ring of `least_ring_for_runs`
  std::uint64_t cut_every = 0;  ///< bytes of a stream between forced cuts; 0 for none; not with `shortens_runs`
};

/// The intake waits for the end of a run that is at least this long.
inline constexpr std::uint64_t long_run_bytes = 64 * KiB;

/// The smallest ring that one run cannot fill up.
[[nodiscard]] std::uint64_t least_ring_for_runs(const chunker& chunker) noexcept;

/// Used by the feeding thread only.
class intake {
 public:
  intake(const ring& ring, stream_chunkers chunkers, run_periods periods, intake_options plan);

  /// Position of the next byte.
  [[nodiscard]] std::uint64_t cursor() const noexcept { return cursor_; }
  /// All bytes of the streams until now, including removed ones.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }

  void begin(std::uint64_t stream, std::size_t rule = 0);
  /// Takes the `count` bytes that were written at the cursor. Errors: the fingerprint's.
  [[nodiscard]] status commit(std::uint64_t count);
  /// Takes up to `count` zeros and returns their number. The ring has room for `room` bytes at the cursor. Within a run
  /// of zeros it takes all of them, else as many as fit. Errors: the fingerprint's.
  [[nodiscard]] result<std::uint64_t> commit_zeros(std::uint64_t count, std::uint64_t room);
  void end(range_end how, status outcome);

  [[nodiscard]] intake_update take_update();

 private:
  /// A run at the cursor. Its rest, from `kept_from` on, is not published until its length is known.
  struct pending_run {
    std::uint64_t kept_from = 0;
    std::uint64_t count = 0;          ///< removed periods
    std::uint64_t removed_bytes = 0;  ///< of them, bytes that had been written
    run_period period = {};
  };

  void force_cuts(std::uint64_t count);
  [[nodiscard]] status scan_for_runs();
  [[nodiscard]] status extend_run();
  /// Removes periods from the run that ends at `last`, moves the bytes behind it, and returns the number of removed
  /// bytes.
  [[nodiscard]] result<std::uint64_t> shorten(std::uint64_t last);
  void end_run();
  void publish_readable();

  [[nodiscard]] std::uint64_t behind() const noexcept { return chunkers_[rule_].behind(); }
  [[nodiscard]] std::uint64_t reach() const noexcept { return chunkers_[rule_].reach(); }

  const ring* ring_;
  stream_chunkers chunkers_;
  std::size_t rule_ = 0;  ///< of the present stream
  run_periods periods_;
  intake_options options_;
  std::uint64_t cursor_ = 0;
  std::uint64_t scanned_ = 0;  ///< no long run begins before it
  std::uint64_t stream_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::optional<pending_run> run_;
  intake_update update_;
};

}  // namespace cutpoint
