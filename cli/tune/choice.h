// Which of the candidates is best, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/tune/facts.h"

namespace cutpoint::cli {

/// What a goal gives away: those are as good as the best that save so much of what it saves.
[[nodiscard]] double required_savings_share(tune_goal goal);

/// What decides the order.
struct tune_merit {
  double net_savings = 0;
  double bytes_per_second = 0;
};

/// Positions from the best to the worst: first those that save enough, the fastest first; then the others, those that save
/// most first. Where nothing is saved by any, all save enough.
[[nodiscard]] std::vector<std::size_t> ranked(const std::vector<tune_merit>& merits, tune_goal goal);

/// Which of these no other beats: none is better in one and as good in the other.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<tune_merit>& merits);

/// Brings the rows into order, marks the front, and recommends the first. Rows that were counted on all inputs go before
/// those that were not.
void choose(tune_facts& facts);

}  // namespace cutpoint::cli
