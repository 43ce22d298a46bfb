#include "cluster/similarity/handprint.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace cutpoint::cluster {

void append_handprint(std::span<const routed_chunk> chunks, std::size_t size, std::vector<std::uint64_t>& handprint) {
  assert(size > 0);
  const auto begin = static_cast<std::ptrdiff_t>(handprint.size());
  for (const routed_chunk& each : chunks) {
    const bool is_full = handprint.size() - static_cast<std::size_t>(begin) == size;
    if (is_full && each.fingerprint >= handprint.back()) continue;
    const auto place = std::lower_bound(handprint.begin() + begin, handprint.end(), each.fingerprint);
    if (place != handprint.end() && *place == each.fingerprint) continue;
    handprint.insert(place, each.fingerprint);
    if (is_full) handprint.pop_back();
  }
}

double resemblance(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second) {
  std::size_t common = 0;
  auto left = first.begin();
  auto right = second.begin();
  while (left != first.end() && right != second.end()) {
    const bool is_common = *left == *right;
    const bool is_left_smaller = *left < *right;
    common += is_common ? 1U : 0U;
    if (is_common || is_left_smaller) ++left;
    if (is_common || !is_left_smaller) ++right;
  }
  const std::size_t all = first.size() + second.size() - common;
  return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

double estimate_accuracy(std::size_t size, double real_resemblance, double error) {
  constexpr double rounding = 1e-9;  // k(r - e) may be a whole number
  const double k = static_cast<double>(size);
  double sum = 0;
  for (std::size_t common = 0; common <= size; ++common) {
    const double i = static_cast<double>(common);
    if (i < k * (real_resemblance - error) - rounding || i > k * (real_resemblance + error) + rounding) continue;
    const double combinations = std::exp(std::lgamma(k + 1) - std::lgamma(i + 1) - std::lgamma(k - i + 1));
    sum += combinations * std::pow(real_resemblance, i) * std::pow(1 - real_resemblance, k - i);
  }
  return sum;
}

}  // namespace cutpoint::cluster
