// Parameters of `adler` (P-Dedupe table 4): the weighted sum of Adler-32 over a rolling window.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cut after byte i when the low log2(avg_bytes) bits of `S2 = sum of (window-k) * A[b_k]` (k from 0, 32 bit) over the
/// window that ends there are all ones. A[b] is the low 16 bits of the fastcdc2020 gear table.
struct adler_parameters {
  /// Expected distance between cut-points without limits, a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last, at least the window; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes that decide a cut-point.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const adler_parameters&, const adler_parameters&) = default;
};

}  // namespace cutpoint
