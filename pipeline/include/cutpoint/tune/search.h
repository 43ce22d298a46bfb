// Every candidate for every mean, on a sample.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cutpoint/source.h>
#include <cutpoint/tune/facts.h>
#include <cutpoint/tune/sample.h>

namespace cutpoint {

struct tune_search_space {
  std::vector<std::string> algorithms;
  std::vector<std::string> profiles;
  std::vector<std::uint64_t> targets;   ///< means, in bytes
  std::uint64_t most_combinations = 0;  ///< of SeqCDC's values for a mean
  std::size_t best_count = 1;           ///< of them, so many go on: with their like, or alone
  std::uint64_t rounds = 5;             ///< of the speeds
  monte_carlo_options monte_carlo;
};

/// Is told what is being done, now and then; from any thread, but from one at a time. Empty text: nothing any more.
using progress_sink = std::function<void(std::string_view)>;

/// Adds rows, and bounds, to the facts: what was done when a stop was asked for. `progress` may be empty. Errors: those of
/// chunkers and fingerprints; cancelled.
[[nodiscard]] status search(const tune_search_space& plan, const content_sample& sample, const progress_sink& progress,
                            const cancellation& cancel, tune_facts& facts);

/// What a goal gives away: those are as good as the best that save so much of what it saves.
[[nodiscard]] double required_savings_share(tune_goal goal);

/// Brings the rows into order, marks the front, and recommends the first where anything was measured. Rows that were counted on all inputs go before
/// those that were not.
void choose(tune_facts& facts);

}  // namespace cutpoint
