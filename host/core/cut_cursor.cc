// The cut cursor. It marks tiles of the sequence as they are needed.
#include <algorithm>

#include <cutpoint/cut_cursor.h>

namespace cutpoint {

namespace {

/// The number of positions that are marked at a time. The bytes of a tile stay in a second-level cache of 512 KiB until
/// their chunks have been fingerprinted. Each of 64 lanes scans an odd number of cache lines, which is the fastest.
constexpr std::uint64_t tile_bytes = 260 * KiB;

/// The number of bytes that the loop cuts after candidates were found to be too dense. It doubles each time.
constexpr std::uint64_t least_loop_bytes = 64 * KiB;
constexpr std::uint64_t most_loop_bytes = 16 * MiB;

/// The capacity of the map, in positions. A longer chunk is cut by the loop.
constexpr std::uint64_t first_capacity = 2 * tile_bytes;
constexpr std::uint64_t most_capacity = 64 * MiB;

}  // namespace

cut_cursor::cut_cursor(chunker cuts) : cuts_(std::move(cuts)), scanner_(cuts_.scanner()) {
  if (scanner_ == nullptr) return;
  needs_ = *cuts_.candidate_map();
  skipped_ = std::max(needs_.behind, needs_.unused);
}

std::optional<std::uint64_t> cut_cursor::next_cut(const stream_window& window, std::uint64_t position) {
  if (scanner_ == nullptr || position < loop_until_) return cuts_.next_cut(window);
  return mapped_cut(window, position);
}

std::optional<std::uint64_t> cut_cursor::mapped_cut(const stream_window& window, std::uint64_t position) {
  const std::uint64_t visible = window.bytes.size() - window.start;
  const std::uint64_t usable = visible - std::min(visible, needs_.ahead);
  const std::uint64_t first = position + skipped_;
  const std::uint64_t last = position + std::min(usable, cuts_.reach());
  if (last <= first) return cuts_.next_cut(window);
  if (first < marked_first_ || first > marked_last_) marked_first_ = marked_last_ = first;
  for (;;) {
    if (map_ && marked_last_ >= last) return cuts_.next_cut(window, *map_, position);
    if (usable < needs_.behind + scanner_->least_count()) return cuts_.next_cut(window);
    const std::uint64_t marked = marked_last_ - first;
    if (marked != 0) {
      const stream_window seen{.bytes = window.bytes.first(window.start + skipped_ + marked + needs_.ahead),
                               .start = window.start,
                               .at_end = false};
      if (const auto length = cuts_.next_cut(seen, *map_, position)) return length;
    }
    // Marking as much again each time keeps the number of attempts, and so the words that are read twice, small.
    const std::uint64_t next = std::min(position + usable, marked_last_ + std::max(tile_bytes, marked));
    if (!mark(window, position, next)) return cuts_.next_cut(window);
  }
}

/// Marks [marked_last_, last). Returns false if the loop is better.
bool cut_cursor::mark(const stream_window& window, std::uint64_t position, std::uint64_t last) {
  const std::uint64_t needed = last - position;
  if (!map_ || needed > map_->capacity()) {
    if (needed > most_capacity) return false;
    std::uint64_t capacity = map_ ? map_->capacity() : first_capacity;
    while (capacity < needed) capacity *= 2;
    map_.emplace(capacity, needs_.levels);
    marked_last_ = marked_first_ = position + skipped_;
  }
  // A range that is too short is extended backwards, where the same candidates are marked again.
  map_->clear(marked_last_, last);
  const std::uint64_t least = scanner_->least_count();
  const std::uint64_t begin = last - marked_last_ >= least ? marked_last_ : last - least;
  const std::uint64_t origin = position - window.start;  // the position of the window's first byte; it may wrap
  if (!scanner_->scan(window.bytes, begin - origin, last - origin, begin, *map_)) {
    loop_bytes_ = std::clamp(2 * loop_bytes_, least_loop_bytes, most_loop_bytes);
    loop_until_ = marked_last_ + loop_bytes_;
    return false;
  }
  loop_bytes_ = 0;
  marked_last_ = last;
  marked_first_ = std::max(marked_first_, last - std::min(last, map_->capacity()));
  return true;
}

}  // namespace cutpoint
