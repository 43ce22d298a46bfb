// Parameters of `ram` (rapid asymmetric maximum).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts after the first byte past the window that is at least as large as every byte in the window. There is no minimum
/// size besides the window.
struct ram_parameters {
  /// The expected chunk size in bytes. It determines the default of `window_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bytes at the chunk's start whose maximum must be reached. Default: avg_bytes - 256.
  std::optional<std::uint64_t> window_bytes = {};

  friend bool operator==(const ram_parameters&, const ram_parameters&) = default;
};

}  // namespace cutpoint
