// Parameters of `fixed`: chunks of equal length, the baseline without content-defined cuts.
#pragma once

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Every chunk has `avg_bytes`, the last one what remains.
struct fixed_parameters {
  /// Length of a chunk, 1 or more.
  std::uint64_t avg_bytes = 8 * KiB;

  friend bool operator==(const fixed_parameters&, const fixed_parameters&) = default;
};

}  // namespace cutpoint
