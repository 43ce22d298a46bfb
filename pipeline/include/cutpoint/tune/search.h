// The tuner's search: counts what every candidate saves on a sample, measures the best, and orders them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/tune/facts.h>
#include <cutpoint/tune/sample.h>

namespace cutpoint {

/// The candidates to try, and how thoroughly.
struct tune_search_space {
  std::vector<std::string> algorithms;
  std::vector<std::string> profiles;
  std::vector<std::uint64_t> targets;   ///< wanted mean chunk sizes, in bytes
  std::uint64_t most_combinations = 0;  ///< how many sets of SeqCDC's values are tried for a mean, at most
  bool searches_seqcdc = true;          ///< whether others than SeqCDC's usual parameters are tried
  std::size_t best_count = 1;           ///< how many of the settings for one name and mean become rows
  bool counts_compression = false;      ///< whether savings count what a store's compression saves of new chunks
  /// What a store has that names no chunker: a row of its own, which the goal `store` keeps unless another one wins.
  std::optional<tune_candidate> usual = {};
  std::uint64_t rounds = 5;         ///< how often each speed is measured; the median counts
  monte_carlo_options monte_carlo;  ///< its `threads` are used for counting on the sample too
};

/// A function that receives a short description of the present work, or empty text when the work ends. It is called
/// from any thread, but from one at a time.
using progress_sink = std::function<void(std::string_view)>;

/// Counts all candidates on the sample, on several threads, and measures the speed of the best on the calling thread.
/// Adds the results to `facts.rows` and `facts.bounds`, without order; `facts.goal`, `chunk_cost` and `fingerprint`
/// must be set. `progress` may be empty.
///
/// Settings that cut alike make one row: the fastest of those with equal counts, where the ends of files keep their means from those that
/// were wanted, and one of those of an algorithm whose means differ by less than 5 %.
///
/// A mean is tried only if the sample has at least 16 chunks of it. SeqCDC's parameters are searched only if another
/// setting saves more than its chunks cost, or none was to be tried.
///
/// Errors: as for `make_chunker`, `find_bounds` and `fingerprinter::make`; io_error, if the sample is too small for all
/// means and there are no profiles; cancelled, after the results so far were added.
[[nodiscard]] status search(const tune_search_space& plan, const content_sample& sample, const progress_sink& progress,
                            const cancellation& cancel, tune_facts& facts);

/// Returns the share of the best candidate's savings, 0 to 1, that satisfies a goal. Among candidates that save this
/// much the fastest is preferred.
[[nodiscard]] double required_savings_share(tune_goal goal);

/// Orders the rows by the goal (by `store`, what a store usually has is first unless another row is smaller by more than the spread
/// between them), sets `is_on_front`, and sets `is_recommended` if the first row was counted on data.
/// Rows that were counted on all inputs come before the others. Rows without a measured speed come last, in order of
/// savings; they are not compared with the measured ones.
void choose(tune_facts& facts);

}  // namespace cutpoint
