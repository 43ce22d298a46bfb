// Parameters of `crc32` (SS-CDC): CRC-32C over a rolling window.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cut after byte i when the CRC-32C (initial value 0, no final xor) of the window that ends there matches 0x78 in its
/// low log2(avg_bytes) bits.
struct crc32_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const crc32_parameters&, const crc32_parameters&) = default;
};

}  // namespace cutpoint
