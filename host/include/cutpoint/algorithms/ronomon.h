// Parameters of the profile `ronomon` (ronomon/deduplication; the Python package fastcdc; attic).
#pragma once

#include <optional>

#include <cutpoint/bytes.h>

namespace cutpoint {

/// Gear hash that shifts right, restarted at `min_bytes`, with a strict and a loose mask; cut after the matching byte.
struct ronomon_parameters {
  /// Expected size: 256 to 256 MiB.
  std::uint64_t avg_bytes = 8 * KiB;
  /// Smallest chunk but the last: 64 to 64 MiB; left out: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// Largest chunk: 1 KiB to 1 GiB; left out: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};

  friend bool operator==(const ronomon_parameters&, const ronomon_parameters&) = default;
};

}  // namespace cutpoint
