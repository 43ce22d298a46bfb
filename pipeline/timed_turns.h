// How speeds are measured: some bytes, a few short turns over them, of which the shortest counts, since whatever disturbs a
// turn makes it longer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace cutpoint {

/// Random bytes, as compressed data is, which is most of what is deduplicated: the same each time. `size` is a multiple
/// of 8.
[[nodiscard]] std::vector<std::uint8_t> random_bytes(std::uint64_t size);

struct turn_plan {
  std::uint64_t sample_bytes = 0;
  int turns = 3;
  double turn_seconds = 0.3e-3;  ///< after which nothing more is begun
};

/// Seconds a byte of `work(begin)`, which does some of the sample from there on, at least a byte, and gives where it
/// stopped.
template <class Work>
double seconds_per_byte(const turn_plan& plan, Work&& work) {
  using clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < plan.turns; ++turn) {
    const auto begin = clock::now();
    double seconds = 0;
    std::uint64_t done = 0;
    while (seconds < plan.turn_seconds && done < plan.sample_bytes) {
      done = work(done);
      seconds = std::chrono::duration<double>(clock::now() - begin).count();
    }
    best = std::min(best, seconds / static_cast<double>(done));
  }
  return best;
}

}  // namespace cutpoint
