// Functions that order candidates by savings and speed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/tune/facts.h>

namespace cutpoint {

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
