// Rolling hashes on a device: the interface of a hash, its tests, and its tables in shared memory.
//
// A hash is a struct of plain values with
//
//   state, entry                  types of its value and of the entries of its tables
//   tables                        number of tables of 256 entries; in the specification's table they follow each other, a
//                                 word for each entry
//   forgets                       true if the window is 64 bytes, and `roll` ignores the byte that leaves it
//   window, zeros                 number of bytes that decide it; the hash of a window of zeros
//   roll<Window>(look_up, h, outgoing, incoming)
//                                 the next value; the bytes are byte_of, and look_up(k, byte) is an entry of table k.
//                                 Window is `window`, or 0 if the compiler does not know it
//   word(h)                       the word that tests take
#pragma once

#include "cuda/kernel/packed_bytes.h"

namespace cutpoint::cuda {

/// Base of the hashes that are one word and have a window of any length.
template <class Word>
struct word_hash {
  using state = Word;
  using entry = Word;
  static constexpr bool forgets = false;
  state zeros = 0;
  std::uint32_t window = 0;

  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t word(state h) { return static_cast<std::uint32_t>(h); }
};

/// Accepts words in which all bits of the mask are zero. It is cheaper than any other pattern.
template <class Word>
struct zeros_test {
  Word mask = 0;
  [[nodiscard]] CUTPOINT_HOST_DEVICE bool operator()(Word word) const { return remainder(word) == 0; }
  /// Returns 0 for the words that it accepts. A device has no 64-bit operations on bits.
  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t remainder(Word word) const {
    const Word bits = word & mask;
    return static_cast<std::uint32_t>(bits) | static_cast<std::uint32_t>(std::uint64_t{bits} >> 32);
  }
};

/// Accepts words in which the bits of the mask equal those of the pattern.
struct pattern_test {
  std::uint32_t mask = 0;
  std::uint32_t pattern = 0;
  [[nodiscard]] CUTPOINT_HOST_DEVICE bool operator()(std::uint32_t word) const { return (word & mask) == pattern; }
};

/// Bits [shift, shift + 8) of a word. If the compiler knows `shift`, the byte times any power of two takes one shift and one
/// mask; so do its value and the offset of its row in a table.
struct byte_of {
  std::uint32_t word = 0;
  std::uint32_t shift = 0;

  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t value() const { return shifted<0>(); }
  template <std::uint32_t Left>
  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t shifted() const {
    if constexpr (Left == 0) {
      return (word >> shift) & 0xff;
    } else {
      return (shift < Left ? word << (Left - shift) : word >> (shift - Left)) & (std::uint32_t{0xff} << Left);
    }
  }
};

/// The tests of a scan, one for each level.
template <class Test, std::uint32_t Levels>
struct level_tests {
  Test level[Levels] = {};
  Test any = {};  ///< with several levels: accepts every word that a level accepts, and few others
};

/// The hash and the tests of a scan, all plain values.
template <class Hash, class Test, std::uint32_t Levels>
struct rolling_rule {
  using hash_type = Hash;
  using entry = typename Hash::entry;
  static constexpr std::uint32_t levels = Levels;
  Hash hash = {};
  level_tests<Test, Levels> tests = {};
};

namespace rolling_detail {

inline constexpr std::uint32_t step_bytes = 64;
inline constexpr std::uint32_t vector_bytes = sizeof(bytes16);       // bytes of a load
inline constexpr std::uint32_t vectors = step_bytes / vector_bytes;  // loads of a step

/// Each entry of a table has a row of copies, as many as shared memory serves lanes in a cycle. So each of these lanes reads
/// from its own banks, whatever the bytes are.
inline constexpr std::uint32_t log2_row = 7;
template <class Entry>
inline constexpr std::uint32_t table_copies = (1 << log2_row) / sizeof(Entry);
template <class Hash>
inline constexpr std::uint32_t table_size = Hash::tables * 256 * table_copies<typename Hash::entry>;

/// Copies a hash's tables from the specification's table to shared memory.
template <class Hash, class Block>
[[nodiscard]] CUTPOINT_DEVICE auto shared_tables(Block& block, const std::uint64_t* table) {
  using entry = typename Hash::entry;
  const auto entries = block.template shared<entry>(table_size<Hash>);
  block.for_each_thread([&](auto thread) {
    for (std::uint32_t i = thread.index(); i < entries.size(); i += block.thread_count()) {
      entries[i] = static_cast<entry>(table[i / table_copies<entry>]);
    }
  });
  return entries;
}

/// Makes the `look_up` of a thread.
template <class Hash, class Entries, class Thread>
[[nodiscard]] CUTPOINT_DEVICE auto look_up_of(const Entries& entries, Thread thread) {
  using entry = typename Hash::entry;
  const auto column = static_cast<std::uint32_t>(thread.lane() % table_copies<entry> * sizeof(entry));
  return [entries, column](std::uint32_t k, byte_of byte) {
    return entries.at_offset(k * (std::uint32_t{256} << log2_row) + (byte.template shifted<log2_row>() | column));
  };
}

/// The candidates of 64 positions.
template <std::uint32_t Levels>
struct found_bits {
  std::uint64_t level[Levels] = {};

  /// Tests the hashes of sixteen positions from bit `first` on.
  template <class Tests, class Word>
  CUTPOINT_DEVICE void test(const Tests& tests, const Word (&words)[vector_bytes], std::uint32_t first) {
    constexpr std::uint32_t together = Levels == 1 ? 1 : 8;
    CUTPOINT_UNROLL
    for (std::uint32_t begin = 0; begin < vector_bytes; begin += together) {
      if constexpr (Levels != 1) {
        std::uint32_t smallest = tests.any.remainder(words[begin]);
        CUTPOINT_UNROLL
        for (std::uint32_t i = begin + 1; i < begin + together; ++i) {
          smallest = least(smallest, tests.any.remainder(words[i]));
        }
        if (smallest != 0) continue;
      }
      CUTPOINT_UNROLL
      for (std::uint32_t i = begin; i < begin + together; ++i) {
        CUTPOINT_UNROLL
        for (std::uint32_t l = 0; l < Levels; ++l) {
          if (tests.level[l](words[i])) level[l] |= std::uint64_t{1} << (first + i);
        }
      }
    }
  }
  /// Writes the words whose first bit is `position`, with zeros past the buffer's end.
  CUTPOINT_DEVICE void store(const packed_bytes& in, std::uint64_t position) const {
    if (position >= in.byte_count) return;
    const std::uint64_t there = in.byte_count - position;
    const std::uint64_t valid_bits = there < 64 ? ~(~std::uint64_t{0} << there) : ~std::uint64_t{0};
    CUTPOINT_UNROLL
    for (std::uint32_t l = 0; l < Levels; ++l) in.candidates[l * in.words + position / 64] = level[l] & valid_bits;
  }
};

/// Byte i of sixteen.
[[nodiscard]] CUTPOINT_DEVICE byte_of byte_at(const bytes16& sixteen, std::uint32_t i) {
  return {sixteen.words[i / 4], 8 * (i % 4)};
}

}  // namespace rolling_detail
}  // namespace cutpoint::cuda
