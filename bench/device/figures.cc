#include "bench/device/figures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cutpoint::bench {

std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes) {
  std::vector<std::uint64_t> sizes = {64 * MiB};
  for (const std::uint64_t size : {256 * MiB, 1 * GiB, largest_batch}) {
    if (size > memory_bytes / 4) break;
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::uint64_t> no_larger_than(std::uint64_t most_bytes, std::vector<std::uint64_t> sizes) {
  for (std::uint64_t& size : sizes) size = std::min(size, most_bytes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

int calls_per_sample(double seconds) noexcept {
  constexpr double sample_seconds = 0.02;
  constexpr double most_calls = 64;
  return static_cast<int>(std::ceil(std::clamp(sample_seconds / std::max(seconds, 1e-9), 1.0, most_calls)));
}

std::optional<batch_rate> best_of(const std::vector<batch_rate>& rates) {
  const auto best = std::max_element(rates.begin(), rates.end(), [](const batch_rate& a, const batch_rate& b) {
    return a.bytes_per_second < b.bytes_per_second;
  });
  return best == rates.end() ? std::nullopt : std::optional(*best);
}

}  // namespace cutpoint::bench
