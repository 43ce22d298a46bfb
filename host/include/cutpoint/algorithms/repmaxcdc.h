// Parameters of the profile `repmaxcdc` (buildbarn/go-cdc; REAPI), which cuts at the largest gear hash within a
// horizon.
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Among the cuts that leave at least `min_bytes` on both sides, takes the first one with the largest gear hash. It
/// repeats this on the bytes before that cut while another chunk fits there.
struct repmaxcdc_parameters {
  /// The smallest size of a chunk in bytes, at least 64. Only a stream shorter than two such chunks gives a smaller
  /// one.
  std::uint64_t min_bytes = 256 * KiB;
  /// The number of bytes searched beyond two minimal chunks. Default: eight times `min_bytes`.
  std::optional<std::uint64_t> horizon_bytes = {};

  friend bool operator==(const repmaxcdc_parameters&, const repmaxcdc_parameters&) = default;
};

}  // namespace cutpoint
