// The fastest back end for a job, by measurement, which is repeated until it is sure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/timing.h>

namespace cutpoint {

/// The chunker on the back end that cuts random bytes and text fastest here. Of those that are about equal it is the
/// widest, as for chunks of many MiB, which are not measured. Takes some milliseconds.
[[nodiscard]] chunker fastest(const chunker& cuts);

/// The fastest batch fingerprinter here, for chunks of 8 KiB. Errors: as `fingerprints_on`.
[[nodiscard]] result<chosen_fingerprinter> fastest(const fingerprint_recipe& recipe);

/// Measures once for each chunker and each kind of fingerprint, and remembers the result. Thread-safe.
class backend_cache {
 public:
  /// As `chunker_on`, but `automatic` keeps a kernel that the chunker has. Errors: also invalid_argument, if another back
  /// end is to replace a kernel that belongs to none.
  [[nodiscard]] result<chunker> place(const chunker& cuts, backend which);
  /// As `fingerprints_on`.
  [[nodiscard]] result<chosen_fingerprinter> place(const fingerprint_recipe& recipe, backend which);

 private:
  std::mutex mutex_;
  std::map<std::string, backend, std::less<>> of_cuts_;
  std::map<fingerprint_kind, backend> of_fingerprints_;
};

// Measures speeds in a few short turns over some bytes, and finds the fastest of several candidates. The shortest turn
// counts, because other work on the machine only makes turns longer. Time is the thread's processor time, also for the
// end of turns and rounds: by the clock, a busy machine would leave each candidate a turn or two.

/// The same random bytes in every call. Compressed data is like them. `size` must be a multiple of 8.
[[nodiscard]] std::vector<std::uint8_t> random_bytes(std::uint64_t size);

/// The same text in every call: bytes below 128 of which a few are frequent and the largest are rare, as in source
/// code. `size` must be a multiple of 4.
[[nodiscard]] std::vector<std::uint8_t> text_bytes(std::uint64_t size);

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
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < plan.turns; ++turn) {
    const double begin = thread_seconds();
    double seconds = least_seconds;
    std::uint64_t done = 0;
    do {
      done = work(done);
      seconds = std::max(thread_seconds() - begin, least_seconds);
    } while (done < plan.sample_bytes && seconds < plan.turn_seconds);
    best = std::min(best, seconds / static_cast<double>(done));
  }
  return best;
}

/// Finds the fastest of `count` candidates, which is at least 1. `cost(i, part)` gives candidate i a short turn in one of
/// `parts` parts of the work and returns the seconds that a unit of it took. Candidates take turns, so that a slow phase
/// of the machine meets all of them, and those that are clearly slower get no more. The shortest turns in all parts are
/// added up. Of candidates that differ by less than such measurements do, the last is chosen, so that the choice is
/// always the same.
template <class Cost>
std::size_t find_fastest(std::size_t count, std::size_t kind_count, Cost&& cost) {
  constexpr int rounds = 7;
  constexpr double longest_seconds = 5e-3;
  constexpr double about_equal = 1.05;
  struct contender {
    std::size_t index;
    std::vector<double> least;
    [[nodiscard]] double total() const { return std::accumulate(least.begin(), least.end(), 0.0); }
  };
  std::vector<contender> left;
  for (std::size_t i = 0; i < count; ++i) {
    left.push_back({i, std::vector<double>(kind_count, std::numeric_limits<double>::infinity())});
  }
  const auto keep_within = [&left](double factor) {
    double best = std::numeric_limits<double>::infinity();
    for (const contender& c : left) best = std::min(best, c.total());
    std::erase_if(left, [&](const contender& c) { return c.total() > factor * best; });
  };
  const double begin = thread_seconds();
  for (int round = 0; round < rounds && left.size() > 1; ++round) {
    if (round > 1 && thread_seconds() - begin > longest_seconds) break;
    for (contender& c : left) {
      for (std::size_t kind = 0; kind < kind_count; ++kind)
        c.least[kind] = std::min(c.least[kind], cost(c.index, kind));
    }
    if (round != 0) keep_within(1.1 + 0.4 / round);  // the first turns warm up
  }
  keep_within(about_equal);
  return left.back().index;
}

}  // namespace cutpoint
