// The streams of a feed as one sequence of bytes: where each begins and ends, its intake into the ring, and the runs that were removed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/engine.h>
#include <cutpoint/fingerprint.h>

#include "pipeline/schedule/ring.h"

namespace cutpoint {

/// Has at least one chunker. The limits below are the largest of all, so that they serve every stream of the feed.
class stream_chunkers {
 public:
  stream_chunkers(const chunker& only) : chunkers_{only} {}  // NOLINT(*-explicit-*): most feeds have one
  /// Those that the options name: `cuts` for rule 0, then `rule_cuts`.
  explicit stream_chunkers(const feed_options& options) : chunkers_{options.cuts} {
    chunkers_.insert(chunkers_.end(), options.rule_cuts.begin(), options.rule_cuts.end());
  }

  [[nodiscard]] std::size_t size() const noexcept { return chunkers_.size(); }
  [[nodiscard]] const chunker& operator[](std::size_t rule) const noexcept { return chunkers_[rule]; }
  [[nodiscard]] auto begin() const noexcept { return chunkers_.begin(); }
  [[nodiscard]] auto end() const noexcept { return chunkers_.end(); }

  [[nodiscard]] std::uint64_t reach() const noexcept { return largest(&chunker::reach); }
  [[nodiscard]] std::uint64_t behind() const noexcept { return largest(&chunker::behind); }

 private:
  [[nodiscard]] std::uint64_t largest(std::uint64_t (chunker::*limit)() const noexcept) const noexcept {
    std::uint64_t most = 0;
    for (const chunker& each : chunkers_) most = std::max(most, (each.*limit)());
    return most;
  }

  std::vector<chunker> chunkers_;
};

/// How many bytes equal to the first one `bytes` begins with.
[[nodiscard]] std::uint64_t leading_run(byte_span bytes) noexcept;

/// How many bytes equal to the last one `bytes` ends with.
[[nodiscard]] std::uint64_t trailing_run(byte_span bytes) noexcept;

/// Equal bytes [first, last) of a span that no longer run contains.
struct byte_run {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The first run of at least `least_bytes` (2 or more) at or after `begin`. Reads few bytes of data without runs.
[[nodiscard]] std::optional<byte_run> find_run(byte_span bytes, std::uint64_t begin,
                                               std::uint64_t least_bytes) noexcept;

/// The chunks of an endless run. All have the same length, and so the same fingerprint.
struct run_period {
  std::uint64_t length = 0;
  digest fingerprint;
};

/// The periods of each chunker's runs, found once for each byte. Not synchronised.
class run_periods {
 public:
  run_periods(stream_chunkers chunkers, fingerprinter fingerprint)
      : chunkers_(std::move(chunkers)), fingerprint_(std::move(fingerprint)), known_(chunkers_.size()) {}

  /// `run` must have at least `behind + reach` bytes of the rule's chunker, all equal. Errors: the fingerprint's.
  [[nodiscard]] result<run_period> of(byte_span run, std::size_t rule);
  /// The period of zeros, of which none are written. Errors: memory_limit, if there are too few addresses for what a cut depends on;
  /// the fingerprint's.
  [[nodiscard]] result<run_period> of_zeros(std::size_t rule);

 private:
  stream_chunkers chunkers_;
  fingerprinter fingerprint_;
  std::vector<std::array<std::optional<run_period>, 256>> known_;  ///< for each rule
};

// The intake writes streams one after the other into the ring, as one sequence of bytes. It shortens long runs of one
// byte by whole chunks, which it counts.
//
// Why that is exact: every algorithm is restartable. If a chunk starts in a run and sees only bytes of the run, from
// `behind` before its start to `reach` after it, the next chunk starts in the same situation one period later, until
// fewer than `reach` bytes of the run are left. So removing whole periods from a run changes no other cut, if at least
// 2 `reach` stay beyond its first `behind` bytes. The removed chunks precede the first chunk that starts in the rest.
//
// Where the ring has no room for that, zeros of holes are still not written: once the cuts that are known have come to a chunk that
// starts in them, whole periods of the zeros that will follow are counted. The ring then holds one chunk at a time, as for other bytes.

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
  bool counts_zeros = false;    ///< by `count_zeros`; needs a reach; not with the others
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
  /// Brings bytes to the cursor that were written at `position`, at the cursor or behind it, and returns them.
  [[nodiscard]] byte_span bring(std::uint64_t position, std::uint64_t count) noexcept;
  /// Takes the `count` bytes that were written at the cursor. Errors: the fingerprint's.
  [[nodiscard]] status commit(std::uint64_t count);
  /// Takes up to `count` zeros and returns their number. The ring has room for `room` bytes at the cursor. Within a run
  /// of zeros it takes all of them, else as many as fit. Errors: the fingerprint's.
  [[nodiscard]] result<std::uint64_t> commit_zeros(std::uint64_t count, std::uint64_t room);
  /// Returns the period of zeros if whole periods of the next `count` zeros may have to be counted. Errors: as `run_periods::of_zeros`.
  [[nodiscard]] result<std::optional<run_period>> zeros_to_count(std::uint64_t count);
  /// Takes and counts as many whole periods of the next `count` zeros as can be left out. Returns their bytes. The first chunk that is
  /// not known begins at `start`. The rest of the zeros must be taken by `commit_zeros`, unless the stream fails.
  [[nodiscard]] std::uint64_t count_zeros(std::uint64_t count, std::uint64_t start, const run_period& period);
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
  std::optional<std::uint64_t> zeros_begin_;  ///< of the zeros of holes at the cursor
  std::optional<intake_event> counted_run_;   ///< is published with all bytes that its first chunk may depend on
  intake_update update_;
};

/// A stream in the sequence, or its part between two forced cuts.
struct stream_entry {
  std::uint64_t stream = 0;  ///< the feed's number
  std::size_t rule = 0;      ///< of its chunker
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< its end, or the end of its known bytes
  range_end how = range_end::open;
  bool continues = false;  ///< begins at a forced cut
  status outcome = {};     ///< of the stream, if it has ended
};

/// Periods that stand before the first chunk that starts at `position` or later.
struct removed_run {
  std::uint64_t position = 0;
  std::uint64_t count = 0;
  run_period period;
};

/// Not synchronised. Tasks have copies of the visible ranges, because they run without the lock.
class sequence {
 public:
  void apply_update(intake_update update);

  /// Bytes before this position do not change any more.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }
  /// The ranges of streams that have bytes in [first, last), without bytes beyond `visible`.
  [[nodiscard]] std::vector<visible_range> visible_ranges(std::uint64_t first, std::uint64_t last,
                                                          std::uint64_t visible) const;
  /// Whether the entry of the byte before `position` has ended, or has `ahead` readable bytes behind `position`.
  [[nodiscard]] bool has_lookahead(std::uint64_t position, std::uint64_t ahead) const noexcept;
  /// The last position with `ahead` bytes of lookahead in this sense.
  [[nodiscard]] std::uint64_t last_position_with_lookahead(std::uint64_t ahead) const noexcept;
  /// Bytes from the beginning of the entry that holds `position`.
  [[nodiscard]] std::uint64_t offset_in_entry(std::uint64_t position) const noexcept;

  /// The entries that were not taken yet, in order.
  [[nodiscard]] const std::deque<stream_entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t stream_count() const noexcept { return stream_count_; }
  /// Removes and returns the entries that end at or before `position`, with a copy of the next one.
  [[nodiscard]] std::vector<stream_entry> take_entries(std::uint64_t position);
  /// Removes and returns the runs that precede `position`.
  [[nodiscard]] std::vector<removed_run> take_runs(std::uint64_t position);

 private:
  /// Index of the first entry that ends after `position`.
  [[nodiscard]] std::size_t entry_after(std::uint64_t position) const noexcept;

  std::uint64_t readable_ = 0;
  std::uint64_t stream_count_ = 0;
  std::deque<stream_entry> entries_;
  std::deque<removed_run> runs_;
};

}  // namespace cutpoint
