// The cut cursor: it finds the cuts of a stream one after the other, from candidates that it scans ahead of them.
#pragma once

#include <cstdint>
#include <optional>

#include <cutpoint/candidates.h>
#include <cutpoint/chunker.h>

namespace cutpoint {

/// Finds the same cuts as `chunker::next_cut(window)`. If the chunker's kernel has a scanner, the cursor marks the
/// candidates of some hundred KiB at a time, which are then in the cache, and finds the next cuts from the marks. It
/// uses the kernel's loop where candidates are dense, or where most chunks are hardly longer than the minimum. Without a
/// scanner it costs nothing.
///
/// Holds at most 16 MiB, and usually less than 200 KiB. Not thread-safe. Functions may throw std::bad_alloc.
class cut_cursor {
 public:
  explicit cut_cursor(const chunker& cuts);

  /// Returns the same result as `cuts.next_cut(window)`. `position` is the number of `window.start` in a sequence of
  /// bytes; the caller must not change bytes of the sequence, nor where streams begin and end in it. Calls in the order
  /// of positions are fast.
  [[nodiscard]] std::optional<std::uint64_t> next_cut(const stream_window& window, std::uint64_t position);

  /// Returns the chunker.
  [[nodiscard]] const chunker& cuts() const noexcept { return cuts_; }

 private:
  [[nodiscard]] std::optional<std::uint64_t> mapped_cut(const stream_window& window, std::uint64_t position);
  [[nodiscard]] bool is_loop_faster(std::uint64_t marked);
  [[nodiscard]] bool is_slower_to_scan(std::uint64_t scanned, std::uint64_t tested) const;
  void use_loop();
  [[nodiscard]] bool mark(const stream_window& window, std::uint64_t position, std::uint64_t last);

  chunker cuts_;
  candidate_map_needs needs_ = {};
  const candidate_scanner* scanner_;
  std::uint64_t skipped_ = 0;  ///< positions at the beginning of each chunk that are not marked
  std::uint64_t probe_bytes_ = 0;
  std::optional<candidate_bits> map_ = {};
  std::uint64_t marked_first_ = 0;  ///< all candidates in [marked_first_, marked_last_) are marked
  std::uint64_t marked_last_ = 0;
  std::uint64_t tile_bytes_ = 0;    ///< of the last scan; 0 if the cursor starts at a new position
  std::uint64_t scanned_ = 0;       ///< the work of the last scans, in positions without candidates
  std::uint64_t loop_work_ = 0;     ///< positions of the same chunks that the loop would have hashed
  std::uint64_t short_chunks_ = 0;  ///< the last chunks that ended before a scan would have begun
  std::uint64_t loop_until_ = 0;    ///< chunks that begin before this position are cut by the loop
  std::uint64_t loop_bytes_ = 0;
};

}  // namespace cutpoint
