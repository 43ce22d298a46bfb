// Parameters of `rabin-inck` (PRUNE section 4.2): a polynomial hash modulo a Mersenne prime.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cut after byte i when `sum of b_k * 256^(window-1-k) mod (2^31 - 1)` over the window that ends there matches 0x78 in
/// its low log2(avg_bytes) bits.
struct rabin_inck_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const rabin_inck_parameters&, const rabin_inck_parameters&) = default;
};

}  // namespace cutpoint
