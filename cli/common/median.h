// The middle of what was measured.
#pragma once

#include <algorithm>
#include <vector>

namespace cutpoint::cli {

/// Of at least one value; of an even number, the mean of the two in the middle.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace cutpoint::cli
