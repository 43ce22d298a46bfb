// The cut cursor, which marks tiles of the sequence as they are needed, and the walk over candidates.
#include <algorithm>
#include <bit>
#include <cassert>

#include <cutpoint/candidates.h>
#include <cutpoint/cut_cursor.h>

namespace cutpoint {

namespace {

/// Returns the number of positions that are marked after `tile_bytes`, or at first if it is 0. The first tile is small,
/// because the next cut may be near. The bytes of the largest stay in a second-level cache of 512 KiB until their
/// chunks have been fingerprinted. Each lane scans an odd number of cache lines, which is the fastest.
std::uint64_t next_tile_bytes(std::uint64_t tile_bytes, const candidate_scanner& scanner) {
  const std::uint64_t extra = scanner.least_count() / 8;
  return std::clamp(2 * tile_bytes - std::min(tile_bytes, extra), 9 * extra, 256 * KiB + extra);
}

/// The most positions after a chunk's minimum that the loop tests before a scan. Candidates may be dense there. Usually
/// it tests as many as make loop and scan equally fast.
constexpr std::uint64_t most_probe_bytes = 8 * KiB;

/// The number of chunks that end there, one after the other, after which the loop is used without a test.
constexpr std::uint64_t most_short_chunks = 8;

/// The number of bytes that the loop cuts after it was found to be faster. It doubles until as many bytes are scanned.
/// The least is for a scan that is as fast as the loop.
constexpr std::uint64_t least_loop_bytes = 256 * KiB;
constexpr std::uint64_t most_loop_bytes = 16 * MiB;

/// The capacity of the map, in positions. A longer chunk is cut by the loop.
constexpr std::uint64_t first_map_capacity = 512 * KiB;
constexpr std::uint64_t most_capacity = 64 * MiB;

}  // namespace

cut_cursor::cut_cursor(const chunker& cuts) : cuts_(cuts), scanner_(cuts_.scanner()) {
  if (scanner_ != nullptr && scanner_->speedup() <= 1) scanner_ = nullptr;
  if (scanner_ == nullptr) return;
  needs_ = *cuts_.candidate_map();
  skipped_ = std::max(needs_.behind, needs_.unused);
  const double speedup = scanner_->speedup();
  const double saved = static_cast<double>(skipped_) - speedup * static_cast<double>(needs_.behind);
  const double equal = std::max(saved, 0.0) / std::max(speedup - 1, 1.0);
  probe_bytes_ = std::min(static_cast<std::uint64_t>(equal), most_probe_bytes);
}

std::optional<std::uint64_t> cut_cursor::next_cut(const stream_window& window, std::uint64_t position) {
  if (scanner_ == nullptr || position < loop_until_) return cuts_.next_cut(window);
  const std::optional<std::uint64_t> length = mapped_cut(window, position);
  if (length) loop_work_ += needs_.behind + needs_.ahead + *length - std::min(*length, skipped_);
  return length;
}

std::optional<std::uint64_t> cut_cursor::mapped_cut(const stream_window& window, std::uint64_t position) {
  const std::uint64_t visible = window.bytes.size() - window.start;
  const std::uint64_t usable = visible - std::min(visible, needs_.ahead);
  const std::uint64_t first = position + skipped_;
  const std::uint64_t last = position + std::min(usable, cuts_.reach());
  if (last <= first) return cuts_.next_cut(window);
  if (first < marked_first_ || first > marked_last_) {
    if (first < marked_first_ || first - marked_last_ > skipped_) tile_bytes_ = 0;
    marked_first_ = marked_last_ = first;
  }
  const std::uint64_t least = scanner_->least_count();
  for (;;) {
    if (map_ && marked_last_ >= last) return cuts_.next_cut(window, *map_, position);
    if (usable < needs_.behind + least || is_slower_to_scan(least, usable - skipped_)) {
      return cuts_.next_cut(window);
    }
    const std::uint64_t marked = marked_last_ - first;
    const std::uint64_t known = marked != 0 || tile_bytes_ != 0 ? marked : probe_bytes_;
    if (known != 0) {
      const std::uint64_t seen_bytes = std::min(visible, skipped_ + known + needs_.ahead);
      const stream_window seen{
          .bytes = window.bytes.first(window.start + seen_bytes), .start = window.start, .at_end = false};
      const auto length = marked != 0 ? cuts_.next_cut(seen, *map_, position) : cuts_.next_cut(seen);
      if (length && marked == 0 && ++short_chunks_ == most_short_chunks) use_loop();
      if (length) return length;
    }
    if (is_loop_faster(marked)) return cuts_.next_cut(window);
    tile_bytes_ = next_tile_bytes(tile_bytes_, *scanner_);
    // Marking an eighth as much again each time bounds the words that are read twice, and what is marked in vain.
    std::uint64_t next = marked_last_ + std::max(tile_bytes_, marked / 8);
    if (next + least > position + usable) next = position + usable;
    if (!mark(window, position, next)) return cuts_.next_cut(window);
  }
}

/// Compares the work of the last scans with the positions that the loop would have tested, `marked` of them in the
/// present chunk. There are many fewer if most chunks are hardly longer than the minimum.
bool cut_cursor::is_loop_faster(std::uint64_t marked) {
  if (scanned_ == 0) return false;
  if (is_slower_to_scan(scanned_, loop_work_ + marked)) {
    use_loop();
    return true;
  }
  if (marked_last_ - loop_until_ >= loop_bytes_) loop_bytes_ = 0;
  scanned_ /= 2;
  loop_work_ /= 2;
  return false;
}

/// Returns whether it takes longer to scan so many positions than to test the others by the loop.
bool cut_cursor::is_slower_to_scan(std::uint64_t scanned, std::uint64_t tested) const {
  return static_cast<double>(scanned) > scanner_->speedup() * static_cast<double>(tested);
}

void cut_cursor::use_loop() {
  const auto least_bytes = static_cast<std::uint64_t>(least_loop_bytes / scanner_->speedup());
  loop_bytes_ = std::max({least_bytes, 4 * skipped_, std::min(2 * loop_bytes_, most_loop_bytes)});
  loop_until_ = marked_last_ + loop_bytes_;
  scanned_ = loop_work_ = tile_bytes_ = short_chunks_ = 0;
}

/// Marks [marked_last_, last). Returns false if the loop is better.
bool cut_cursor::mark(const stream_window& window, std::uint64_t position, std::uint64_t last) {
  const std::uint64_t needed = last - position;
  if (!map_ || needed > map_->capacity()) {
    if (needed > most_capacity) return false;
    std::uint64_t capacity = map_ ? map_->capacity() : std::min(first_map_capacity, std::bit_ceil(window.bytes.size()));
    while (capacity < needed) capacity *= 2;
    map_.emplace(capacity, needs_.levels);
    marked_last_ = marked_first_ = position + skipped_;
  }
  // A range that is too short is extended backwards, where the same candidates are marked again.
  map_->clear(marked_last_, last);
  const std::uint64_t least = scanner_->least_count();
  const std::uint64_t begin = last - marked_last_ >= least ? marked_last_ : last - least;
  const std::uint64_t origin = position - window.start;  // the position of the window's first byte; it may wrap
  const std::optional<std::uint64_t> work = scanner_->scan(window.bytes, begin - origin, last - origin, begin, *map_);
  if (!work) {
    use_loop();
    return false;
  }
  short_chunks_ = 0;
  scanned_ += *work;
  marked_last_ = last;
  marked_first_ = std::max(marked_first_, last - std::min(last, map_->capacity()));
  return true;
}

// Clears and searches the candidate map one word at a time.

namespace {

/// Returns the bits of a word from position `first` on.
std::uint64_t bits_from(std::uint64_t first) { return ~std::uint64_t{0} << (first % 64); }

/// Returns the bits of a word before position `last`, which follows a position of this word.
std::uint64_t until(std::uint64_t last) { return ~std::uint64_t{0} >> ((64 - last % 64) % 64); }

/// Returns the number of zeros before the first other word, or `count`. Most words are zeros.
std::uint64_t leading_zeros(const std::uint64_t* words, std::uint64_t count) {
  std::uint64_t zeros = 0;
  while (zeros + 4 <= count && (words[zeros] | words[zeros + 1] | words[zeros + 2] | words[zeros + 3]) == 0) zeros += 4;
  while (zeros < count && words[zeros] == 0) ++zeros;
  return zeros;
}

}  // namespace

candidate_bits::candidate_bits(std::uint64_t capacity, std::uint64_t levels)
    : word_count_(capacity / 64), words_(levels * word_count_) {
  assert(capacity != 0 && capacity % 64 == 0 && levels != 0);
}

void candidate_bits::clear(std::uint64_t first, std::uint64_t last) {
  assert(first <= last && last - first <= capacity());
  if (first == last) return;
  const std::uint64_t first_word = first / 64;
  const std::uint64_t last_word = (last - 1) / 64;
  for (std::uint64_t level = 0; level < words_.size(); level += word_count_) {
    std::uint64_t* words = &words_[level];
    if (first_word == last_word) {
      words[slot_of(first_word)] &= ~(bits_from(first) & until(last));
      continue;
    }
    words[slot_of(first_word)] &= ~bits_from(first);
    words[slot_of(last_word)] &= ~until(last);
    for (std::uint64_t word = first_word + 1; word < last_word;) {
      const std::uint64_t count = std::min(last_word - word, word_count_ - slot_of(word));  // to the end of the ring
      std::fill_n(words + slot_of(word), count, 0);
      word += count;
    }
  }
}

std::uint64_t candidate_bits::next(std::uint64_t first, std::uint64_t last, std::uint64_t level) const {
  assert(first <= last && last - first <= capacity());
  if (first == last) return last;
  const std::uint64_t* words = &words_[level * word_count_];
  const std::uint64_t last_word = (last - 1) / 64;
  std::uint64_t word = first / 64;
  std::uint64_t bits = words[slot_of(word)] & bits_from(first);
  while (bits == 0 && word != last_word) {
    const std::uint64_t slot = slot_of(++word);
    const std::uint64_t count = std::min(last_word + 1 - word, word_count_ - slot);  // to the end of the ring
    const std::uint64_t zeros = std::min(leading_zeros(words + slot, count), count - 1);
    word += zeros;
    bits = words[slot + zeros];
  }
  if (bits == 0) return last;
  return std::min(last, 64 * word + static_cast<std::uint64_t>(std::countr_zero(bits)));
}

std::optional<std::uint64_t> candidate_bits::previous(std::uint64_t first, std::uint64_t last,
                                                      std::uint64_t level) const {
  assert(first <= last && last - first <= capacity());
  if (first == last) return std::nullopt;
  const std::uint64_t* words = &words_[level * word_count_];
  const std::uint64_t first_word = first / 64;
  std::uint64_t word = (last - 1) / 64;
  std::uint64_t slot = slot_of(word);
  std::uint64_t bits = words[slot] & until(last);
  while (bits == 0 && word != first_word) {
    --word;
    slot = slot == 0 ? word_count_ - 1 : slot - 1;
    bits = words[slot];
  }
  if (bits == 0) return std::nullopt;
  const std::uint64_t last_marked = 64 * word + 63 - static_cast<std::uint64_t>(std::countl_zero(bits));
  if (last_marked < first) return std::nullopt;
  return last_marked;
}

}  // namespace cutpoint
