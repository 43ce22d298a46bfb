// Parameters of `ae-max` and `ae-min` (AE: asymmetric extremum).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// The extreme that ends a chunk.
enum class ae_extreme { maximum, minimum };

/// Cuts `window_bytes` after the first value that no value in the following window beats (AE section 3). There is no
/// minimum size.
struct ae_parameters {
  /// The expected chunk size in bytes. It determines the default of `window_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The largest size of a chunk, in bytes (AE_MAX_T in the paper); 0 means no maximum. Default: eight times
  /// `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bytes from the extreme to the cut. Default: avg_bytes - 256 for values of one byte, round(avg_bytes
  /// / (e-1)) for values of eight.
  std::optional<std::uint64_t> window_bytes = {};
  /// The number of bytes of a value: 1 or 8. Eight bytes are compared as a big-endian number, and one begins at each
  /// position.
  std::uint64_t value_bytes = 1;
  /// The threshold for low-entropy strings (AE-Opt2): a chunk that begins with this many equal bytes is cut after them.
  /// 2 to window_bytes; the paper uses avg_bytes / 8; 0 disables it.
  std::uint64_t lest = 0;
  ae_extreme extreme = ae_extreme::maximum;

  friend bool operator==(const ae_parameters&, const ae_parameters&) = default;
};

}  // namespace cutpoint
