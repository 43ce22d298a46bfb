// Measures speeds in a few short turns over some bytes. The shortest turn counts, because other work on the machine
// only makes turns longer. Time is the thread's processor time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include <cutpoint/timing.h>

namespace cutpoint {

/// The same random bytes in every call. Compressed data is like them. `size` must be a multiple of 8.
[[nodiscard]] std::vector<std::uint8_t> random_bytes(std::uint64_t size);

/// The resolution of the clock.
inline constexpr double least_seconds = 1e-9;

struct timing_options {
  std::uint64_t sample_bytes = 0;
  int turns = 3;
  double turn_seconds = 0.3e-3;  ///< a turn ends after this time
};

/// Seconds per byte of `work(begin)`, which works on at least one byte of the sample from `begin` on and returns where
/// it stopped.
template <class Work>
double seconds_per_byte(const timing_options& plan, Work&& work) {
  using clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < plan.turns; ++turn) {
    const auto begin = clock::now();
    const double thread_begin = thread_seconds();
    std::uint64_t done = 0;
    do {
      done = work(done);
    } while (done < plan.sample_bytes &&
             std::chrono::duration<double>(clock::now() - begin).count() < plan.turn_seconds);
    const double seconds = std::max(thread_seconds() - thread_begin, least_seconds);
    best = std::min(best, seconds / static_cast<double>(done));
  }
  return best;
}

}  // namespace cutpoint
