// Parameters of `crc32` (SS-CDC): CRC-32C over a rolling window.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts after byte i if the low log2(avg_bytes) bits of the CRC-32C (initial value 0, no final xor) of the window that
/// ends with byte i equal those of 0x78.
struct crc32_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const crc32_parameters&, const crc32_parameters&) = default;
};

}  // namespace cutpoint
