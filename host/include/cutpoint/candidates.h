// The candidate map: one bit for each position of a long sequence and each level, kept in a ring.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cutpoint {

/// Stores one bit for each position and level. The sequence of positions may have any length. The map holds
/// `capacity()` of them at a time: positions that differ by a multiple of the capacity share a bit.
///
/// Bits are stored in words of 64 positions. Several threads may clear or mark at once if each has a range of its own
/// that begins and ends at a multiple of 64, and if no two ranges share a position modulo the capacity. Any number of
/// threads may read at once. The caller must synchronise a thread that reads with the thread that wrote the bits.
class candidate_bits {
 public:
  /// Makes a map in which no bit is set. `capacity` is a multiple of 64 and not 0, and `levels` is at least 1.
  candidate_bits(std::uint64_t capacity, std::uint64_t levels);

  /// Clears [first, last) at every level; `last - first <= capacity()`. Bits outside this range keep their value, and
  /// words without a position in it are not accessed.
  void clear(std::uint64_t first, std::uint64_t last);

  /// Marks one position.
  void mark(std::uint64_t position, std::uint64_t level) {
    mark_all(position / 64 * 64, std::uint64_t{1} << (position % 64), level);
  }

  /// Marks position + k for each bit k that is set in `bits`. `position` is a multiple of 64.
  void mark_all(std::uint64_t position, std::uint64_t bits, std::uint64_t level) {
    words_[level * word_count_ + slot_of(position / 64)] |= bits;
  }

  /// Returns the first marked position in [first, last), or `last` if no position is marked. Requires `first <= last <=
  /// first + capacity()`.
  [[nodiscard]] std::uint64_t next(std::uint64_t first, std::uint64_t last, std::uint64_t level) const;

  /// Returns the last marked position in [first, last), or nullopt if no position is marked. Requires `first <= last <=
  /// first + capacity()`.
  [[nodiscard]] std::optional<std::uint64_t> previous(std::uint64_t first, std::uint64_t last,
                                                      std::uint64_t level) const;

  /// Returns the number of positions that the map holds at a time.
  [[nodiscard]] std::uint64_t capacity() const { return 64 * word_count_; }
  /// Returns the number of bytes that are allocated for the bits.
  [[nodiscard]] std::uint64_t bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  /// Returns the index, within a level, of the word that holds positions [64 * word, 64 * word + 64) of the sequence.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t word) const { return word % word_count_; }

  std::uint64_t word_count_;  ///< words in each level
  std::vector<std::uint64_t> words_;
};

}  // namespace cutpoint
