#include "bench/device/figures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cutpoint::bench {

std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes, bool is_quick) {
  std::vector<std::uint64_t> sizes = {64 * MiB};
  for (const std::uint64_t size : {256 * MiB, 1 * GiB, largest_batch}) {
    if (size > memory_bytes / 4 || (is_quick && size > 1 * GiB)) break;
    sizes.push_back(size);
  }
  if (is_quick) sizes.erase(sizes.begin(), sizes.end() - 1);
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

std::uint64_t batch_for_90_percent(const std::vector<batch_rate>& rates) {
  const auto best = best_of(rates);
  std::uint64_t least = 0;
  for (const batch_rate& each : rates) {
    if (each.bytes_per_second < 0.9 * best->bytes_per_second) continue;
    if (least == 0 || each.batch_bytes < least) least = each.batch_bytes;
  }
  return least;
}

std::optional<double> device_targets::chunking(std::string_view algorithm, const device_rates& limits) {
  const auto is_among = [&](const auto& names) {
    return std::find(names.begin(), names.end(), algorithm) != names.end();
  };
  constexpr std::array<std::string_view, 4> windows = {"rabin", "buzhash", "crc32", "adler"};
  constexpr std::array<std::string_view, 4> extremes = {"ram", "ae", "maxp", "seqcdc"};
  if (algorithm == "gear") return 1.9e12;
  if (algorithm == "fastcdc") return 1.5e12;
  if (algorithm == "mincdc") return 2.5e12;
  if (is_among(windows)) return 1.0e12;
  if (is_among(extremes)) return 0.6 * limits.read;
  return std::nullopt;
}

std::optional<double> device_targets::fingerprints(fingerprint_kind kind) {
  switch (kind) {
    case fingerprint_kind::sha1:
      return 1.4e12;
    case fingerprint_kind::blake3:
      return 1.3e12;
    case fingerprint_kind::sha256:
      return 0.65e12;
    default:
      return std::nullopt;
  }
}

std::string_view algorithm_of(std::string_view canonical) { return canonical.substr(0, canonical.find('(')); }

}  // namespace cutpoint::bench
