// Parameters of `ram` (rapid asymmetric maximum).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cut after the first byte past the window that is at least the largest byte in it. No minimum but the window.
struct ram_parameters {
  /// Expected chunk size; decides `window_bytes` when that is left out.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Largest chunk; 0 is no maximum; left out: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes at the chunk's start whose maximum must be reached; left out: avg_bytes - 256.
  std::optional<std::uint64_t> window_bytes = {};

  friend bool operator==(const ram_parameters&, const ram_parameters&) = default;
};

}  // namespace cutpoint
