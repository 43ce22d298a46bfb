// The median of what was measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cutpoint::bench {

/// The larger of the two in the middle where there is an even number. At least one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace cutpoint::bench
