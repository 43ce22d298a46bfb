// Functions that count what cuts save on a sample, and measure their speed.
#pragma once

#include <cstdint>
#include <functional>
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
  double mean_bytes = 0;            ///< mean length of the chunks that the sample does not cut short
  double cut_bytes_per_second = 0;  ///< rate of a single pass over the sample
  std::optional<measured_compression> compression = {};  ///< of the new chunks, if they were compressed
};

/// Whether the new chunks of a sample are compressed, which takes longer than all else.
enum class new_chunks { counted, compressed };

/// Cuts the ranges `streams` of the sample and counts their chunks. Errors: those of the fingerprint. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] result<sample_counts> count_on(const content_sample& sample, const std::vector<sampled_range>& streams,
                                             const chunker& cuts, new_chunks treatment = new_chunks::counted);

/// Returns the data on which speeds are measured: at most 32 MiB, in blocks of at most 1 MiB from all over the ranges.
[[nodiscard]] aligned_bytes timing_data(const content_sample& sample, const std::vector<sampled_range>& streams);

/// A chunker whose speed is measured.
struct timed_cuts {
  chunker cuts;
  std::uint64_t group = 0;  ///< chunkers of one group make chunks of about the same length
};

/// Measures the speed of each of `cuts` on `data`, on the calling thread and by its processor time. All are measured
/// once in each round, and the median of the rounds is returned. The speed of a fingerprint depends only on the lengths
/// of the chunks, so it is the median over all measurements of a group. If `cancel` is requested, a round that is not
/// finished does not count; if it is the first, the result has only the first of `cuts`, or none. Calls `round_begins`
/// with the number of each round, if it is not empty. Errors: those of the fingerprint.
[[nodiscard]] result<std::vector<measured_speed>> measure_speeds(const std::vector<timed_cuts>& cuts,
                                                                 fingerprint_kind fingerprint, byte_span data,
                                                                 std::uint64_t rounds,
                                                                 const std::function<void(std::uint64_t)>& round_begins,
                                                                 const cancellation& cancel);

/// Measures the speeds of rows as `measure_speeds` does, where means within an octave make a group. Rows that are not reached before
/// cancelling have no speed.
[[nodiscard]] status measure_rows(std::vector<tune_row>& rows, fingerprint_kind fingerprint, byte_span data,
                                  std::uint64_t rounds, const std::function<void(std::uint64_t)>& round_begins,
                                  const cancellation& cancel);

}  // namespace cutpoint
