// Sizes of batches, lengths of samples, and targets for the measurements of a GPU. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

namespace cutpoint::bench {

/// The largest batch that devices take.
inline constexpr std::uint64_t largest_batch = 4 * GiB - 64;

/// The speed of batches of one size.
struct batch_rate {
  std::uint64_t batch_bytes = 0;
  double bytes_per_second = 0;
};

/// Returns the sizes of batches in device memory, ascending: those of 64 MiB, 256 MiB, 1 GiB and the largest of which four
/// fit into `memory_bytes`, and always the first. If `is_quick`, returns only the last of them up to 1 GiB.
[[nodiscard]] std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes, bool is_quick);

/// Returns ascending sizes, those above `most_bytes` replaced by a single one of `most_bytes`.
[[nodiscard]] std::vector<std::uint64_t> no_larger_than(std::uint64_t most_bytes, std::vector<std::uint64_t> sizes);

/// Returns how many calls of `seconds` make a sample of 20 ms, at most 64.
[[nodiscard]] int calls_per_sample(double seconds) noexcept;

/// Returns the fastest rate, or nullopt if there are no rates.
[[nodiscard]] std::optional<batch_rate> best_of(const std::vector<batch_rate>& rates);

/// Returns the smallest batch with at least 90 % of the fastest rate, or 0 if there are no rates.
[[nodiscard]] std::uint64_t batch_for_90_percent(const std::vector<batch_rate>& rates);

/// Device rates that results are compared with.
struct device_rates {
  double read = 0;     ///< bytes of device memory that a plain kernel reads in a second
  double link_in = 0;  ///< bytes that the link carries from pinned memory in a second
};

/// Targets for an NVIDIA H200 in bytes a second; nullopt without a target.
struct device_targets {
  /// Cuts of data in device memory. `algorithm` is the name in canonical strings.
  [[nodiscard]] static std::optional<double> chunking(std::string_view algorithm, const device_rates& limits);
  /// Fingerprints of chunks of 8 KiB in device memory.
  [[nodiscard]] static std::optional<double> fingerprints(fingerprint_kind kind);
  /// Cuts and SHA-1 of data in pinned host memory.
  [[nodiscard]] static double end_to_end(const device_rates& limits) { return 0.95 * limits.link_in; }
};

/// Returns the algorithm of a canonical string, for example "gear" of "gear(min_bytes=...)".
[[nodiscard]] std::string_view algorithm_of(std::string_view canonical);

}  // namespace cutpoint::bench
