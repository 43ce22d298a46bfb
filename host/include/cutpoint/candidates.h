// Where candidates for cut-points stand: one bit for each position of a long sequence, kept as a ring.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cutpoint {

/// One bit for each position and level. Positions are those of a sequence of any length, of which the ring remembers
/// `capacity` at a time: a position shares its bit with all that are a multiple of the capacity away.
///
/// Bits are held in words of 64 positions. Threads that write (clear or mark) stretches which begin and end at
/// multiples of 64 and share no position, modulo the capacity, may do so at once; so may any number that only read.
/// Nothing else is synchronised: what one thread wrote, another sees once the caller has seen to that.
class candidate_bits {
 public:
  /// All bits clear. `capacity`: a multiple of 64, not 0. `levels`: at least 1.
  candidate_bits(std::uint64_t capacity, std::uint64_t levels);

  /// Clears every level of [first, last), `last - first <= capacity()`. Bits outside keep their value, and words that
  /// have no position inside are not touched.
  void clear(std::uint64_t first, std::uint64_t last);

  void mark(std::uint64_t position, std::uint64_t level) {
    mark_all(position / 64 * 64, std::uint64_t{1} << (position % 64), level);
  }

  /// Marks position + k for each bit k of `bits`. `position`: a multiple of 64.
  void mark_all(std::uint64_t position, std::uint64_t bits, std::uint64_t level) {
    words_[level * word_count_ + slot_of(position / 64)] |= bits;
  }

  /// The first marked position in [first, last), or `last` when none is. `first <= last <= first + capacity()`.
  [[nodiscard]] std::uint64_t next(std::uint64_t first, std::uint64_t last, std::uint64_t level) const;

  /// The last marked position in [first, last), if any is. `first <= last <= first + capacity()`.
  [[nodiscard]] std::optional<std::uint64_t> previous(std::uint64_t first, std::uint64_t last,
                                                      std::uint64_t level) const;

  /// How many positions are remembered at once.
  [[nodiscard]] std::uint64_t capacity() const { return 64 * word_count_; }
  /// Bytes of memory held for the bits.
  [[nodiscard]] std::uint64_t bytes() const { return words_.capacity() * sizeof(std::uint64_t); }

 private:
  /// Where in its level the word with this number in the sequence stands.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t word) const { return word % word_count_; }

  std::uint64_t word_count_;  ///< of one level
  std::vector<std::uint64_t> words_;
};

}  // namespace cutpoint
