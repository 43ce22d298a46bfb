// What the figures of a GPU are made of: sizes of batches, lengths of samples, targets. Plain C++, tested without a GPU.
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

/// What batches of one size went at.
struct batch_rate {
  std::uint64_t batch_bytes = 0;
  double bytes_per_second = 0;
};

/// Sizes of batches that lie in device memory, ascending: of 64 MiB, 256 MiB, 1 GiB and the largest, those of which a
/// device with so much memory holds four, the first always. `is_quick`: the last of them up to 1 GiB alone.
[[nodiscard]] std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes, bool is_quick);

/// How often something that takes so many seconds is done in one sample: for 20 ms, and at most 64 times.
[[nodiscard]] int calls_per_sample(double seconds) noexcept;

/// The fastest; nothing where there is none.
[[nodiscard]] std::optional<batch_rate> best_of(const std::vector<batch_rate>& rates);

/// The smallest batch that goes at 90 % of the fastest; 0 where there is none.
[[nodiscard]] std::uint64_t batch_for_90_percent(const std::vector<batch_rate>& rates);

/// Device rates that a figure is held against.
struct device_rates {
  double read = 0;     ///< bytes of device memory that a plain kernel reads in a second
  double link_in = 0;  ///< bytes that the link carries from pinned memory in a second
};

/// What an NVIDIA H200 is to reach, in bytes a second; nothing where no target is set.
struct device_targets {
  /// Cuts of data in device memory. `algorithm` as canonical strings name it.
  [[nodiscard]] static std::optional<double> chunking(std::string_view algorithm, const device_rates& limits);
  /// Fingerprints of chunks of 8 KiB in device memory.
  [[nodiscard]] static std::optional<double> fingerprints(fingerprint_kind kind);
  /// Cuts and SHA-1 of data in pinned host memory.
  [[nodiscard]] static double end_to_end(const device_rates& limits) { return 0.95 * limits.link_in; }
};

/// "gear" of "gear(min_bytes=...)".
[[nodiscard]] std::string_view algorithm_of(std::string_view canonical);

}  // namespace cutpoint::bench
