// The steps of a search: what cuts save on a sample, how fast they are, how well chunks are compressed, and the choice among the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <cutpoint/bytes.h>
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
  std::vector<double> kept_by_block = {};  ///< the bytes that a store keeps of each block of the sample, if so
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

/// Compresses chunks as a store does: one by one, at its usual level, and not at all where that does not pay. Not thread-safe.
class chunk_compressor {
 public:
  /// Throws std::bad_alloc.
  chunk_compressor();
  chunk_compressor(chunk_compressor&&) noexcept;
  chunk_compressor& operator=(chunk_compressor&&) noexcept;
  ~chunk_compressor();

  /// Compresses a chunk, which is not empty, on the calling thread, and returns its bytes in a store. Throws std::bad_alloc.
  std::uint64_t add(byte_span chunk);
  /// Returns what all chunks came to; a share of 1 without any.
  [[nodiscard]] measured_compression total() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The two figures of a candidate that decide the order.
struct tune_merit {
  double net_savings = 0;
  double bytes_per_second = 0;
};

/// Returns the indices of `merits` from the best to the worst. Candidates that save enough for the goal come first, in
/// order of speed; the others follow in order of savings. If no candidate saves anything, all save enough.
[[nodiscard]] std::vector<std::size_t> ranked(const std::vector<tune_merit>& merits, tune_goal goal);

/// Returns for each candidate whether it is on the Pareto front: no other is better in one figure and at least as good
/// in the other.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<tune_merit>& merits);

}  // namespace cutpoint
