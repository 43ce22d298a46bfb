// The parameter search of SeqCDC (section IV-B): bounds from Monte Carlo runs on random bytes, and a grid between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/tune/candidate.h>

namespace cutpoint {

/// How far a close mean may be from the wanted one, as a share of it: 14 to 18 KiB for 16 KiB, as in the paper.
inline constexpr double close_share = 0.125;

struct monte_carlo_options {
  std::uint64_t run_count = 5;  ///< number of Monte Carlo runs, each on other random bytes
  std::uint64_t seed = 1;       ///< seed of the random bytes
  std::uint64_t threads = 1;    ///< number of threads that share the work
};

/// The results of the Monte Carlo runs for one wanted mean.
struct seqcdc_bounds {
  std::uint64_t target_bytes = 0;  ///< the wanted mean
  std::uint64_t run_count = 0;
  std::uint64_t bytes_each = 0;   ///< number of random bytes in a run
  std::uint64_t trial_count = 0;  ///< number of sets of values that were tried
  std::uint64_t close_count = 0;  ///< number of sets with a close mean
  seqcdc_values lowest;           ///< for each value, the lowest in a set with a close mean
  seqcdc_values highest;          ///< the highest
  seqcdc_values nearest;          ///< the set whose mean was nearest
  double nearest_mean_bytes = 0;  ///< its mean
};

/// Tries sequence lengths of 3 to 7, skip triggers of 20 to 80, and skip sizes of 64 to 704 bytes, which is the largest
/// in the paper. Returns nullopt if `cancel` was requested. Errors: invalid_argument, if no set comes close to the
/// mean; as for `chunker::make`.
[[nodiscard]] result<std::optional<seqcdc_bounds>> find_bounds(std::uint64_t target_bytes,
                                                               const monte_carlo_options& options,
                                                               const cancellation& cancel);

/// Returns what `find_bounds` returns for the means 4K, 8K, 16K, 32K and 64K with the default options, whatever the
/// number of threads, or nullopt for other means and options. Takes no time.
[[nodiscard]] std::optional<seqcdc_bounds> usual_bounds(std::uint64_t target_bytes, const monte_carlo_options& options);

/// Returns at most `most` sets of values on an even grid that begins at the lower bounds. The step is 1 for lengths, 5
/// for triggers and 32 bytes for sizes. The last two are doubled until the grid is small enough. The lengths alone may
/// be more than `most`.
[[nodiscard]] std::vector<seqcdc_values> grid_between(const seqcdc_bounds& bounds, std::uint64_t most);

/// Returns the mean length of a chunk that SeqCDC cuts from a long random stream without minimum, maximum and skipping:
/// 1 / lambda_k (SeqCDC section IV-A and appendix E). The paper's k counts the bytes of a sequence, so it is
/// `seq_length` + 1. A byte has `value_count` values; tests use fewer than 256. The result is infinite if a sequence is
/// longer than the number of values.
[[nodiscard]] double expected_sequence_bytes(std::uint64_t seq_length, std::uint64_t value_count = 256);

/// The mean chunk size without minimum, maximum and skipping, by the analytic model and measured on random bytes.
struct model_row {
  std::uint64_t seq_length = 0;
  double expected_bytes = 0;  ///< `expected_sequence_bytes`
  double measured_bytes = 0;
  std::uint64_t chunk_count = 0;  ///< number of chunks that were measured

  /// Returns the relative error of the model, positive if it expects longer chunks.
  [[nodiscard]] double error_share() const { return expected_bytes / measured_bytes - 1; }
};

/// Measures sequence lengths of 2 to 7. Lengths that were not measured before `cancel` was requested are left out.
/// Errors: as for `chunker::make`.
[[nodiscard]] result<std::vector<model_row>> compare_model(const monte_carlo_options& options,
                                                           const cancellation& cancel);

}  // namespace cutpoint
