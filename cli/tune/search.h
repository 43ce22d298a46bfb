// Every candidate for every mean, on a sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/source.h>

#include "cli/common/console.h"
#include "cli/tune/facts.h"
#include "cli/tune/sample.h"

namespace cutpoint::cli {

struct tune_search_space {
  std::vector<std::string> algorithms;
  std::vector<std::string> profiles;
  std::vector<std::uint64_t> targets;   ///< means, in bytes
  std::uint64_t most_combinations = 0;  ///< of SeqCDC's values for a mean
  std::size_t best_count = 1;           ///< of them, so many go on: with their like, or alone
  std::uint64_t rounds = 5;             ///< of the speeds
  monte_carlo_options monte_carlo;
};

/// Adds rows, and bounds, to the facts: what was done when a stop was asked for. Errors: those of chunkers and
/// fingerprints; cancelled.
[[nodiscard]] status search(const tune_search_space& plan, const sample& on, const console& say,
                            const cancellation& cancel, tune_facts& into);

}  // namespace cutpoint::cli
