// What a set of cuts makes of a sample, and how fast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/chunker.h>
#include <cutpoint/dedup.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/speed.h>
#include <cutpoint/tune/facts.h>
#include <cutpoint/tune/sample.h>

namespace cutpoint {

struct sample_counts {
  dedup_counts total;
  /// Of the chunks that end where the cuts, or their input, end them: not those that the sample cuts short.
  double mean_bytes = 0;
  double cut_bytes_per_second = 0;  ///< of one pass over all of it
};

/// Errors: those of the fingerprint. Thread-safe.
[[nodiscard]] result<sample_counts> count_on(const content_sample& sample, const std::vector<sampled_range>& streams,
                                             const chunker& cuts);

/// Some of a sample, evenly spread over it, on which speeds are measured.
[[nodiscard]] aligned_bytes timing_data(const content_sample& sample);

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

}  // namespace cutpoint
