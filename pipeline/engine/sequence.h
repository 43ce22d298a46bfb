// What is known of a feed's streams as one sequence of bytes: where each begins and ends, and what was taken out.
#pragma once

#include <deque>
#include <vector>

#include "pipeline/engine/intake.h"

namespace cutpoint {

/// One stream's part of the sequence, or the part between two forced cuts.
struct stream_part {
  std::uint64_t stream = 0;  ///< as the feed calls it
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< where it ends, or how far it is known
  stretch_end how = stretch_end::open;
  bool continues = false;  ///< begins at a forced cut
  status outcome = {};     ///< of the stream, with its end
};

/// Periods that stand before the first chunk that starts at `position` or later.
struct taken_run {
  std::uint64_t position = 0;
  std::uint64_t count = 0;
  run_period period;
};

/// Not synchronised: its owner's lock guards it. Tasks that run without the lock take `stretches` with them.
class sequence {
 public:
  void learn(intake_news news);

  /// Bytes before this position stay as they are.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }
  /// The parts that have bytes in [first, last), none beyond `visible`.
  [[nodiscard]] std::vector<stretch> stretches(std::uint64_t first, std::uint64_t last, std::uint64_t visible) const;
  /// Whether what holds the byte before `position` ends, or goes on for `ahead` bytes that can be read.
  [[nodiscard]] bool is_seen_past(std::uint64_t position, std::uint64_t ahead) const noexcept;
  /// The last position for which that is so.
  [[nodiscard]] std::uint64_t seen_with(std::uint64_t ahead) const noexcept;
  /// Bytes from the beginning of the part that holds `position`.
  [[nodiscard]] std::uint64_t offset_in_part(std::uint64_t position) const noexcept;

  /// The parts from the first that is not dropped, in order.
  [[nodiscard]] const std::deque<stream_part>& parts() const noexcept { return parts_; }
  /// How many parts there have been.
  [[nodiscard]] std::uint64_t part_count() const noexcept { return part_count_; }
  /// Takes the parts out that end by `position`, and a copy of the one that it lies in: nobody asks for them again.
  [[nodiscard]] std::vector<stream_part> take_parts(std::uint64_t position);
  /// Takes the runs out that stand before `position`.
  [[nodiscard]] std::vector<taken_run> take_runs(std::uint64_t position);

 private:
  /// Index of the first part that ends after `position`.
  [[nodiscard]] std::size_t part_after(std::uint64_t position) const noexcept;

  std::uint64_t readable_ = 0;
  std::uint64_t part_count_ = 0;
  std::deque<stream_part> parts_;
  std::deque<taken_run> runs_;
};

}  // namespace cutpoint
