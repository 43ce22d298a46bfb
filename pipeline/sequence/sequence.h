// The streams of a feed as one sequence of bytes: where each begins and ends, and which runs were removed.
#pragma once

#include <deque>
#include <vector>

#include "pipeline/sequence/intake.h"

namespace cutpoint {

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
  /// Number of streams that have begun.
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
