// Parameters of `fixed`: chunks of equal length, the baseline without content-defined cuts.
#pragma once

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Cuts every `avg_bytes`. The last chunk has the remaining bytes.
struct fixed_parameters {
  /// The length of a chunk in bytes, at least 1.
  std::uint64_t avg_bytes = 8 * KiB;

  friend bool operator==(const fixed_parameters&, const fixed_parameters&) = default;
};

}  // namespace cutpoint
