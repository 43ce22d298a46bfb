// The instructions that count, deposit and find bits, in loops whose steps depend on each other or do not, and plain loops
// that give the same sums. SeqCDC's skips use them (SeqCDC section III-D), and their speed varies between processors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cutpoint::bench {

/// What a loop does with each word.
enum class intrinsic {
  popcnt,       ///< counts the bits of the word
  tzcnt,        ///< counts the zeros below its lowest bit; 64 if it has none
  pdep,         ///< deposits a constant in the places of its bits
  nth_set_bit,  ///< pdep of one bit and tzcnt of the result: the place of its fourth bit; 64 if it has fewer
};
[[nodiscard]] std::string_view to_string(intrinsic which);

/// Whether each step waits for the one before it.
enum class chaining { independent, chained };

/// Returns whether this build has the instructions and this processor runs them.
[[nodiscard]] bool runs_intrinsics() noexcept;

/// Returns the sum of the results of all words by the instructions; of a chain, its last result. In a chain each word is
/// combined with the result before by exclusive or. Requires `runs_intrinsics()`.
[[nodiscard]] std::uint64_t by_intrinsic(intrinsic which, chaining steps, std::span<const std::uint64_t> words);

/// Returns the same by plain loops over bits.
[[nodiscard]] std::uint64_t by_loops(intrinsic which, chaining steps, std::span<const std::uint64_t> words);

}  // namespace cutpoint::bench
