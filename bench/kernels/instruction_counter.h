// Reads the time-stamp counter, and checks whether it counts instructions, as it does in Bochs.
#pragma once

#include <cstdint>

#include <x86intrin.h>

namespace cutpoint::bench {

/// Returns the counter after all earlier instructions have completed.
inline std::uint64_t ticks() noexcept {
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}

/// Ticks per instruction in two loops with a known number of instructions.
struct tick_trial {
  double of_adding = 0;       ///< a loop of which a processor runs more than one instruction per cycle
  double of_multiplying = 0;  ///< a loop of products that depend on each other

  /// Returns whether both are about 1; the operating system's own instructions count too. On a real processor both would
  /// have to take the same time, which they do not.
  [[nodiscard]] bool counts_instructions() const noexcept;
};

/// Returns the minimum of several trials.
[[nodiscard]] tick_trial try_ticks() noexcept;

}  // namespace cutpoint::bench
