// Parameters of the profile `ronomon` (ronomon/deduplication; the Python package fastcdc; attic).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// A gear hash that shifts right and is restarted at `min_bytes`, with a strict and a loose mask. The cut is after the
/// matching byte.
struct ronomon_parameters {
  /// The expected chunk size in bytes: 256 to 256 MiB.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes: 64 to 64 MiB. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes: 1 KiB to 1 GiB. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};

  friend bool operator==(const ronomon_parameters&, const ronomon_parameters&) = default;
};

}  // namespace cutpoint
