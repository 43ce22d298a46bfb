// Parameters of `ae-max` and `ae-min` (AE: asymmetric extremum).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Which extreme ends a chunk.
enum class ae_extreme { maximum, minimum };

/// Cut `window_bytes` after the first value that no later value within that window beats (AE section 3). No minimum.
struct ae_parameters {
  /// Expected chunk size; decides `window_bytes` when that is left out.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Largest chunk (the paper's AE_MAX_T); 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Bytes from the extreme to the cut; left out: avg_bytes - 256 for values of one byte, round(avg_bytes / (e-1)) for
  /// eight.
  std::optional<std::uint64_t> window_bytes = {};
  /// Bytes of a value, 1 or 8; eight bytes are compared as a big-endian number that starts at each position.
  std::uint64_t value_bytes = 1;
  /// Low-entropy-string threshold (AE-Opt2): a chunk that begins with this many equal bytes is cut after them. 2 to
  /// window_bytes; the paper takes avg_bytes / 8; 0 turns it off.
  std::uint64_t lest = 0;
  ae_extreme extreme = ae_extreme::maximum;

  friend bool operator==(const ae_parameters&, const ae_parameters&) = default;
};

}  // namespace cutpoint
