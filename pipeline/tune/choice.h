// Which of the candidates is best, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/tune/facts.h>

namespace cutpoint {

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

}  // namespace cutpoint
