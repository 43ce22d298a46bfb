// Parameters of `mincdc4` and `mincdchash4` (MinCDC), which cut at the smallest value within the limits.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts at the first of the smallest values among all lengths from `min_bytes`, but at least 4, to `max_bytes`. The
/// value of a length is `w * multiplier + addend` modulo 2^32, where `w` is the last 4 bytes of the chunk as a
/// little-endian number. A multiplier of 1 and an addend of 0 give `mincdc4`, which compares the bytes themselves.
struct mincdc_parameters {
  /// The mean of `min_bytes` and `max_bytes`, rounded up. On random bytes it is the mean size of a chunk.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; 0 is allowed. Default: avg_bytes / 2, or what makes
  /// `avg_bytes` the mean if only `max_bytes` is given.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes. Default: avg_bytes * 3 / 2, or what makes `avg_bytes` the mean if only
  /// `min_bytes` is given.
  std::optional<std::uint64_t> max_bytes = {};
  /// An odd number below 2^32.
  std::uint64_t multiplier = 0x915f77f5;
  /// A number below 2^32.
  std::uint64_t addend = 0x34636463;

  friend bool operator==(const mincdc_parameters&, const mincdc_parameters&) = default;
};

}  // namespace cutpoint
