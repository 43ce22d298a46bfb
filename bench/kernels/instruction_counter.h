// The time-stamp counter, and whether it counts instructions: so it does in an emulator whose clock is its instructions.
#pragma once

#include <cstdint>

#include <x86intrin.h>

namespace cutpoint::bench {

/// Once everything before it has been done.
inline std::uint64_t ticks() noexcept {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}

/// What the counter makes of instructions of which we know how many there are.
struct tick_trial {
  double of_adding = 0;       ///< ticks an instruction, in a loop that a processor runs faster than it counts
  double of_multiplying = 0;  ///< in one of products that wait for each other

  /// Both are 1, but for the operating system's own instructions now and then. No processor's clock does that: it would
  /// have to take as long for either.
  [[nodiscard]] bool counts_instructions() const noexcept;
};

/// The least of several trials.
[[nodiscard]] tick_trial try_ticks() noexcept;

}  // namespace cutpoint::bench
