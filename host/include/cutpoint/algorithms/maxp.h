// Parameters of `maxp` (local maximum chunking; PRUNE section 2): a byte larger than its neighbours on both sides.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cut after byte i when it is at least every one of the `half_window` bytes before it and more than every one of those
/// after it.
struct maxp_parameters {
  /// Expected distance between cut-points without limits; decides `half_window` when that is left out.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last; left out: `half_window`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk; 0 is no maximum; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// Neighbours on each side that a cut-point must beat; left out: round(ln(avg_bytes/256) / ln(256/255)).
  std::optional<std::uint64_t> half_window = {};

  friend bool operator==(const maxp_parameters&, const maxp_parameters&) = default;
};

}  // namespace cutpoint
