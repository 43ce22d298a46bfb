// What is known of a feed's streams as one sequence of bytes: where each begins and ends, and what was taken out.
#pragma once

#include <deque>
#include <vector>

#include "pipeline/engine/intake.h"

namespace cutpoint {

/// One stream's entry of the sequence, or the entry between two forced cuts.
struct stream_entry {
  std::uint64_t stream = 0;  ///< as the feed calls it
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< where it ends, or how far it is known
  range_end how = range_end::open;
  bool continues = false;  ///< begins at a forced cut
  status outcome = {};     ///< of the stream, with its end
};

/// Periods that stand before the first chunk that starts at `position` or later.
struct removed_run {
  std::uint64_t position = 0;
  std::uint64_t count = 0;
  run_period period;
};

/// Not synchronised: its owner's lock guards it. Tasks that run without the lock take `visible_ranges` with them.
class sequence {
 public:
  void apply_update(intake_update update);

  /// Bytes before this position stay as they are.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }
  /// The entries that have bytes in [first, last), none beyond `visible`.
  [[nodiscard]] std::vector<visible_range> visible_ranges(std::uint64_t first, std::uint64_t last,
                                                          std::uint64_t visible) const;
  /// Whether what holds the byte before `position` ends, or goes on for `ahead` bytes that can be read.
  [[nodiscard]] bool has_lookahead(std::uint64_t position, std::uint64_t ahead) const noexcept;
  /// The last position for which that is so.
  [[nodiscard]] std::uint64_t last_position_with_lookahead(std::uint64_t ahead) const noexcept;
  /// Bytes from the beginning of the entry that holds `position`.
  [[nodiscard]] std::uint64_t offset_in_entry(std::uint64_t position) const noexcept;

  /// The entries from the first that is not dropped, in order.
  [[nodiscard]] const std::deque<stream_entry>& entries() const noexcept { return entries_; }
  /// How many entries there have been.
  [[nodiscard]] std::uint64_t stream_count() const noexcept { return stream_count_; }
  /// Takes the entries out that end by `position`, and a copy of the one that it lies in: nobody asks for them again.
  [[nodiscard]] std::vector<stream_entry> take_entries(std::uint64_t position);
  /// Takes the runs out that stand before `position`.
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
