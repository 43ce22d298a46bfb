// Parameters of the profile `repmaxcdc` (buildbarn/go-cdc; REAPI): the largest gear hash within a horizon.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Of the cuts that leave at least `min_bytes` on both sides, take the first with the largest gear hash, then look
/// again before it while there is room for another chunk.
struct repmaxcdc_parameters {
  /// Smallest chunk but for a stream shorter than two; at least 64.
  std::uint64_t min_bytes = 256 * KiB;
  /// Bytes looked at beyond two minimal chunks; left out: eight times `min_bytes`.
  std::optional<std::uint64_t> horizon_bytes = {};

  friend bool operator==(const repmaxcdc_parameters&, const repmaxcdc_parameters&) = default;
};

}  // namespace cutpoint
