// Parameters of `maxp`, local maximum chunking (PRUNE section 2), which cuts at bytes that are larger than their
// neighbours.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts after byte i if it is greater than or equal to each of the `half_window` bytes before it and greater than each
/// of the `half_window` bytes after it.
struct maxp_parameters {
  /// The expected distance in bytes between candidates. It determines the default of `half_window`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes. Default: `half_window`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of neighbours on each side that a candidate is compared with. Default: round(ln(avg_bytes/256) /
  /// ln(256/255)).
  std::optional<std::uint64_t> half_window = {};

  friend bool operator==(const maxp_parameters&, const maxp_parameters&) = default;
};

}  // namespace cutpoint
