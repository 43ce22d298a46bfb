// What a set of cuts makes of a sample, and how fast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/dedup.h>
#include <cutpoint/fingerprint.h>

#include "cli/bench/data.h"
#include "cli/tune/sample.h"

namespace cutpoint::cli {

/// Duplicates are counted by XXH3, 128 bits: not safe against made collisions, but in a sample none is met by chance.
inline constexpr fingerprint_kind counting_fingerprint = fingerprint_kind::xxh3;

struct sample_counts {
  dedup_counts total;
  /// Of the chunks that end where the cuts, or their input, end them: not those that the sample cuts short.
  double mean_bytes = 0;
  double cut_bytes_per_second = 0;  ///< of one pass over all of it
};

/// Errors: those of the fingerprint. Thread-safe.
[[nodiscard]] result<sample_counts> count_on(const sample& of, const std::vector<sampled_range>& streams,
                                             const chunker& cuts);

/// Some of a sample, evenly spread over it, on which speeds are measured.
[[nodiscard]] bench_data timing_data(const sample& of);

/// What a thread does a second.
struct measured_speed {
  double cut_bytes_per_second = 0;
  std::optional<double> hash_bytes_per_second = {};  ///< of these chunks; nothing without a fingerprint

  /// Both, one after the other.
  [[nodiscard]] double bytes_per_second() const {
    return 1 / (1 / cut_bytes_per_second + (hash_bytes_per_second ? 1 / *hash_bytes_per_second : 0));
  }
};

/// Cuts, and chunks of about which length they make: those of one group.
struct timed_cuts {
  chunker cuts;
  std::uint64_t group = 0;
};

/// Medians of `rounds` passes for each of `cuts`, in turn, in one thread, by processor time. What a fingerprint takes
/// depends on the lengths of chunks alone, so that it is one for a group, of all its passes. Fewer when a stop is asked for:
/// those that were reached. Errors: those of the fingerprint.
[[nodiscard]] result<std::vector<measured_speed>> measure_speeds(const std::vector<timed_cuts>& cuts,
                                                                 fingerprint_kind fingerprint, byte_span data,
                                                                 std::uint64_t rounds, const cancellation& cancel);

}  // namespace cutpoint::cli
