// The best mix of a few activities that share what there is.
#pragma once

#include <optional>
#include <vector>

namespace cutpoint {

/// How much there is of each activity when the sum of amounts times `worth` is largest. A row of `uses` is something
/// that there is one of, and what a unit of each activity takes of it; no row is used more than wholly, no amount is
/// negative. Rows are as long as `worth`; all numbers are finite, those of `uses` not negative, those of `worth`
/// positive. Nothing where an activity with worth takes nothing of any row, so that there could be any amount of it.
[[nodiscard]] std::optional<std::vector<double>> solve_linear_program(const std::vector<std::vector<double>>& uses,
                                                                      const std::vector<double>& worth);

}  // namespace cutpoint
