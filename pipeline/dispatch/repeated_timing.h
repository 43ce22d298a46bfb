// How speeds are measured: some bytes, a few short turns over them, of which the shortest counts, since whatever
// disturbs a turn makes it longer. Time is the thread's processor time, of which what else runs on its processor takes
// none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include <cutpoint/timing.h>

namespace cutpoint {

/// Random bytes, as compressed data is, which is most of what is deduplicated: the same each time. `size` is a multiple
/// of 8.
[[nodiscard]] std::vector<std::uint8_t> random_bytes(std::uint64_t size);

/// What the clock can tell from nothing.
inline constexpr double least_seconds = 1e-9;

struct timing_options {
  std::uint64_t sample_bytes = 0;
  int turns = 3;
  double turn_seconds = 0.3e-3;  ///< after which nothing more is begun
};

/// Seconds a byte of `work(begin)`, which does some of the sample from there on, at least a byte, and gives where it
/// stopped.
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
