// Parameters of `adler` (P-Dedupe table 4): the weighted sum of Adler-32 over a rolling window.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts after byte i if the low log2(avg_bytes) bits of `S2` over the window that ends with byte i are all ones. `S2 =
/// sum of (window-k) * A[b_k]` for k from 0, modulo 2^32, where A[b] is the low 16 bits of b's word in the gear table
/// of fastcdc2020.
struct adler_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const adler_parameters&, const adler_parameters&) = default;
};

}  // namespace cutpoint
