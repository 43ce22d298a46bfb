// Parameters of `rabin-inck` (PRUNE section 4.2): a polynomial hash modulo a Mersenne prime.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts after byte i if the low log2(avg_bytes) bits of the hash of the window that ends with byte i equal those of
/// 0x78. The hash is `sum of b_k * 256^(window-1-k) mod (2^31 - 1)`.
struct rabin_inck_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const rabin_inck_parameters&, const rabin_inck_parameters&) = default;
};

}  // namespace cutpoint
